// SPDX-License-Identifier: Apache-2.0
// Derivative rules of one's own: custom_jvp and custom_vjp.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "spruce/core/custom.h"
#include "spruce/core/graph/custom_call.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce {
namespace internal {

using FlatFunction = std::function<std::vector<Array>(std::span<const Array>)>;

inline constexpr RuleKind kCustomJvp{
    "custom_jvp",
    "hand it over as an argument of the function, so that the derivative rule knows of it"};
/// {outputs, out tangents} one after the other, from inputs and tangents (all defined) one after
/// the other. `kind` outlives the function.
std::shared_ptr<const CustomFunction> make_custom_jvp(FlatFunction f, FlatFunction rule,
                                                      const RuleKind& kind = kCustomJvp);
/// fwd: inputs -> outputs and residuals; bwd: residuals and cotangents -> cotangents of the inputs
/// (undefined is zero). `outputs` is the number of outputs that fwd puts first; it is known once f
/// or fwd has run.
std::shared_ptr<const CustomFunction> make_custom_vjp(FlatFunction f, FlatFunction fwd,
                                                      FlatFunction bwd,
                                                      std::shared_ptr<std::atomic<size_t>> outputs);
/// The derivatives that a rule gave for `values`, one for each: those of leaves that have none
/// (integers, buffers, keys) are undefined, what is weak gets the dtype of its value. Throws
/// TreeError, ShapeError or DtypeError that begins with `op`, "custom_vjp: bwd", and names the leaf
/// where one is missing, too much, or of another type than its value.
std::vector<Array> derivatives_of(const char* op, const std::vector<tree::Entry>& values,
                                  const std::vector<tree::Entry>& given);

/// While a rule runs that was given at `loc`: errors in it name its own lines or that one, and not
/// the line of the transform that asks for the derivative.
class RuleScope {
 public:
  explicit RuleScope(Loc loc) : within_(loc) {}

 private:
  LocReset reset_;
  FunctionScope within_;
};

/// The form of a result, kept from the first run of the function that makes it. Graphs share their
/// functions between threads, so several may learn it at once.
template <class T>
class Form {
 public:
  void learn(const T& x) {
    const std::lock_guard lock(mutex_);
    if (!form_.has_value()) form_ = x;
  }
  T get() const {
    const std::lock_guard lock(mutex_);
    return form_.value();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<T> form_;
};

using tree::internal::gather_leaves;

template <class T>
T refill(const T& like, std::span<const Array> leaves, size_t& at) {
  T out = like;
  fill_leaves(out, leaves, at);
  return out;
}

// What custom_jvp and custom_vjp ask of their functions, as in checked_function.h.
template <class F, class Rule, class... Args>
constexpr bool gives_tangent() {
  using All = std::tuple<Args...>;
  if constexpr (std::is_invocable_v<const Rule&, const All&, const All&>) {
    using Both = CallResult<Rule, All, All>;
    if constexpr (tree::internal::IsTuple<Both>::value) {
      if constexpr (std::tuple_size_v<Both> == 2)
        return std::is_same_v<std::tuple_element_t<0, Both>, CallResult<F, Args...>>;
    }
  }
  return false;
}
template <class F, class Rule, class... Args>
constexpr bool check_jvp_rule() {
  if constexpr (check_run<F, Args...>()) {
    constexpr bool ok = gives_tangent<F, Rule, Args...>();
    static_assert(ok,
                  "spruce: the rule of custom_jvp is called as rule(primals, tangents) with two "
                  "tuples of the function's arguments, and returns std::pair{out, tangent of out}");
    return ok;
  } else {
    return false;
  }
}

template <class Out, class Result>
struct ResidualsOf : std::false_type {};
template <class Out, class Residuals>
struct ResidualsOf<Out, std::pair<Out, Residuals>> : std::true_type {
  using Type = Residuals;
};
template <class F, class Fwd, class... Args>
constexpr bool gives_residuals() {
  if constexpr (std::is_invocable_v<const Fwd&, const Args&...>)
    return ResidualsOf<CallResult<F, Args...>, CallResult<Fwd, Args...>>::value;
  else
    return false;
}
template <class Bwd, class Residuals, class Out>
constexpr bool gives_cotangents(size_t arguments) {
  if constexpr (std::is_invocable_v<const Bwd&, const Residuals&, const Out&>) {
    using Cotangents = CallResult<Bwd, Residuals, Out>;
    if constexpr (tree::internal::IsTuple<Cotangents>::value)
      return std::tuple_size_v<Cotangents> == arguments;
  }
  return false;
}
template <class F, class Fwd, class Bwd, class... Args>
constexpr bool check_vjp_rule() {
  if constexpr (check_run<F, Args...>()) {
    constexpr bool forward = gives_residuals<F, Fwd, Args...>();
    static_assert(forward,
                  "spruce: the forward function of custom_vjp takes the function's arguments and "
                  "returns std::pair{out, residuals}, out of the type that the function returns");
    if constexpr (forward) {
      using Out = CallResult<F, Args...>;
      using Residuals = typename ResidualsOf<Out, CallResult<Fwd, Args...>>::Type;
      constexpr bool backward = gives_cotangents<Bwd, Residuals, Out>(sizeof...(Args));
      static_assert(backward,
                    "spruce: the backward function of custom_vjp takes (residuals, cotangent of "
                    "out) and returns a tuple with one cotangent for each argument: std::tuple{dx, "
                    "dy}");
      return backward;
    }
  }
  return false;
}

template <class F, class Rule>
class CustomJvp {
 public:
  CustomJvp(F f, Rule rule, Loc loc) : f_(std::move(f)), rule_(std::move(rule)), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_jvp_rule<F, Rule, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const FunctionScope within(loc_);
    using Out = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    if (Interpreter::current() == nullptr) return Out(f_(args...));
    const std::tuple<Args...> like(args...);
    const auto form = std::make_shared<Form<Out>>();
    FlatFunction flat = [f = f_, like, form](std::span<const Array> in) {
      size_t at = 0;
      const auto full = std::apply(
          [&](const auto&... a) { return std::tuple<Args...>{refill(a, in, at)...}; }, like);
      Out out = std::apply(f, full);
      std::vector<Array> leaves;
      gather_leaves(leaves, out);
      form->learn(out);
      return leaves;
    };
    FlatFunction rule = [r = rule_, like, form, loc = loc_](std::span<const Array> in) {
      const RuleScope within_rule(loc);
      size_t at = 0;
      const auto rebuild = [&](const auto&... a) {
        return std::tuple<Args...>{refill(a, in, at)...};
      };
      const auto primals = std::apply(rebuild, like);
      const auto tangents = std::apply(rebuild, like);
      auto [out, tangent] = r(primals, tangents);
      std::vector<Array> leaves;
      gather_leaves(leaves, out);
      for (Array& t :
           derivatives_of("custom_jvp: the rule", tree::entries(out), tree::entries(tangent)))
        leaves.push_back(std::move(t));
      form->learn(out);
      return leaves;
    };
    std::vector<Array> in;
    gather_leaves(in, args...);
    const std::vector<Array> out =
        bind_custom(make_custom_jvp(std::move(flat), std::move(rule)), in);
    size_t at = 0;
    return refill(form->get(), out, at);
  }

  F f_;
  Rule rule_;
  Loc loc_;
};

template <class F, class Fwd, class Bwd>
class CustomVjp {
 public:
  CustomVjp(F f, Fwd fwd, Bwd bwd, Loc loc)
      : f_(std::move(f)), fwd_(std::move(fwd)), bwd_(std::move(bwd)), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_vjp_rule<F, Fwd, Bwd, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const FunctionScope within(loc_);
    using Out = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    using Residuals = std::decay_t<
        decltype(std::declval<std::invoke_result_t<const Fwd&, const Args&...>>().second)>;
    if (Interpreter::current() == nullptr) return Out(f_(args...));
    const std::tuple<Args...> like(args...);
    const auto form = std::make_shared<Form<Out>>();
    const auto residual_form = std::make_shared<Form<Residuals>>();
    const auto outputs = std::make_shared<std::atomic<size_t>>(0);
    const auto rebuild = [like](std::span<const Array> in) {
      size_t at = 0;
      return std::apply([&](const auto&... a) { return std::tuple<Args...>{refill(a, in, at)...}; },
                        like);
    };
    FlatFunction flat = [f = f_, rebuild, form, outputs](std::span<const Array> in) {
      Out out = std::apply(f, rebuild(in));
      std::vector<Array> leaves;
      gather_leaves(leaves, out);
      *outputs = leaves.size();
      form->learn(out);
      return leaves;
    };
    FlatFunction forward = [f = fwd_, rebuild, form, residual_form, outputs,
                            loc = loc_](std::span<const Array> in) {
      const RuleScope within_rule(loc);
      auto [out, residuals] = std::apply(f, rebuild(in));
      std::vector<Array> leaves;
      gather_leaves(leaves, out);
      *outputs = leaves.size();
      gather_leaves(leaves, residuals);
      form->learn(out);
      residual_form->learn(residuals);
      return leaves;
    };
    FlatFunction backward = [f = bwd_, like, form, residual_form,
                             loc = loc_](std::span<const Array> in) {
      const RuleScope within_rule(loc);
      size_t at = 0;
      const Residuals residuals = refill(residual_form->get(), in, at);
      const Out ct = refill(form->get(), in, at);
      const auto cts = f(residuals, ct);
      return derivatives_of("custom_vjp: bwd", tree::entries(like), tree::entries(cts));
    };
    std::vector<Array> in;
    gather_leaves(in, args...);
    const std::vector<Array> out = bind_custom(
        make_custom_vjp(std::move(flat), std::move(forward), std::move(backward), outputs), in);
    size_t at = 0;
    return refill(form->get(), out, at);
  }

  F f_;
  Fwd fwd_;
  Bwd bwd_;
  Loc loc_;
};

}  // namespace internal

/// `f` with a forward-mode rule: rule(primals, tangents) takes two tuples of f's arguments and
/// returns {out, tangent of out}. The rule is linear in the tangents and made of differentiable
/// operations, so that reverse mode and higher orders follow from it. Tangents of arguments that do
/// not vary are zeros; an undefined Array is a zero tangent of the result. Arguments and results
/// may be trees. Traced values reach f and the rule only as arguments. Throws TreeError, ShapeError
/// or DtypeError where a tangent has not the form, shape and dtype of its value.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, Loc loc = Loc::current()) {
  return internal::CustomJvp<F, Rule>(std::move(f), std::move(rule), loc);
}

/// `f` with a reverse-mode rule: fwd(args...) returns {out, residuals}, bwd(residuals, cotangent of
/// out) a tuple with one cotangent for each argument (an undefined Array is zero; for integers,
/// buffers and keys what stands there does not matter). Residuals are any tree. Forward mode
/// through it throws DerivativeError. Traced values reach the functions only as arguments. Throws
/// TreeError, ShapeError or DtypeError where a cotangent has not the form, shape and dtype of its
/// argument.
template <class F, class Fwd, class Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd, Loc loc = Loc::current()) {
  return internal::CustomVjp<F, Fwd, Bwd>(std::move(f), std::move(fwd), std::move(bwd), loc);
}

}  // namespace spruce
