// SPDX-License-Identifier: Apache-2.0
// Derivative rules of one's own: custom_jvp and custom_vjp.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "spruce/core/custom.h"
#include "spruce/core/custom_call.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/grad.h"

namespace spruce {
namespace internal {

using FlatFunction = std::function<std::vector<Array>(std::span<const Array>)>;

/// {outputs, out tangents} one after the other, from inputs and tangents (all defined) one after
/// the other.
std::shared_ptr<const CustomFunction> make_custom_jvp(FlatFunction f, FlatFunction rule);
/// fwd: inputs -> outputs and residuals; bwd: residuals and cotangents -> cotangents of the inputs
/// (undefined is zero). `outputs` is the number of outputs that fwd puts first; it is known once f
/// or fwd has run.
std::shared_ptr<const CustomFunction> make_custom_vjp(FlatFunction f, FlatFunction fwd,
                                                      FlatFunction bwd,
                                                      std::shared_ptr<std::atomic<size_t>> outputs);
[[noreturn]] void throw_bwd_count(size_t expected, size_t got);

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

template <class... T>
void gather_leaves(std::vector<Array>& out, const T&... x) {
  (tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf) { out.push_back(a); }), ...);
}

template <class T>
T refill(const T& like, std::span<const Array> leaves, size_t& at) {
  T out = like;
  fill_leaves(out, leaves, at);
  return out;
}

template <class F, class Rule>
class CustomJvp {
 public:
  CustomJvp(F f, Rule rule, Loc loc) : f_(std::move(f)), rule_(std::move(rule)), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
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
    FlatFunction rule = [r = rule_, like, form](std::span<const Array> in) {
      size_t at = 0;
      const auto rebuild = [&](const auto&... a) {
        return std::tuple<Args...>{refill(a, in, at)...};
      };
      const auto primals = std::apply(rebuild, like);
      const auto tangents = std::apply(rebuild, like);
      auto [out, tangent] = r(primals, tangents);
      std::vector<Array> leaves;
      gather_leaves(leaves, out, tangent);
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

 private:
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
    FlatFunction forward = [f = fwd_, rebuild, form, residual_form,
                            outputs](std::span<const Array> in) {
      auto [out, residuals] = std::apply(f, rebuild(in));
      std::vector<Array> leaves;
      gather_leaves(leaves, out);
      *outputs = leaves.size();
      gather_leaves(leaves, residuals);
      form->learn(out);
      residual_form->learn(residuals);
      return leaves;
    };
    FlatFunction backward = [f = bwd_, like, form, residual_form](std::span<const Array> in) {
      size_t at = 0;
      const Residuals residuals = refill(residual_form->get(), in, at);
      const Out ct = refill(form->get(), in, at);
      const auto cts = f(residuals, ct);
      static_assert(std::tuple_size_v<std::decay_t<decltype(cts)>> == sizeof...(Args),
                    "spruce: the backward function of custom_vjp returns a tuple with one "
                    "cotangent for each argument");
      std::vector<Array> leaves, expected;
      std::apply([&](const auto&... c) { gather_leaves(leaves, c...); }, cts);
      std::apply([&](const auto&... a) { gather_leaves(expected, a...); }, like);
      if (leaves.size() != expected.size()) throw_bwd_count(expected.size(), leaves.size());
      return leaves;
    };
    std::vector<Array> in;
    gather_leaves(in, args...);
    const std::vector<Array> out = bind_custom(
        make_custom_vjp(std::move(flat), std::move(forward), std::move(backward), outputs), in);
    size_t at = 0;
    return refill(form->get(), out, at);
  }

 private:
  F f_;
  Fwd fwd_;
  Bwd bwd_;
  Loc loc_;
};

}  // namespace internal

/// `f` with a forward-mode rule: rule(primals, tangents) takes two tuples of f's arguments and
/// returns {out, tangent of out}. The rule is linear in the tangents and made of differentiable
/// operations, so that reverse mode and higher orders follow from it. Tangents of arguments that do
/// not vary are zeros. Arguments and results may be trees. Traced values reach f and the rule only
/// as arguments.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, Loc loc = Loc::current()) {
  return internal::CustomJvp<F, Rule>(std::move(f), std::move(rule), loc);
}

/// `f` with a reverse-mode rule: fwd(args...) returns {out, residuals}, bwd(residuals, cotangent of
/// out) a tuple with one cotangent for each argument (an undefined Array is zero). Residuals are
/// any tree. Forward mode through it throws DerivativeError. Traced values reach the functions only
/// as arguments.
template <class F, class Fwd, class Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd, Loc loc = Loc::current()) {
  return internal::CustomVjp<F, Fwd, Bwd>(std::move(f), std::move(fwd), std::move(bwd), loc);
}

}  // namespace spruce
