// SPDX-License-Identifier: Apache-2.0
// Gradients: grad and value_and_grad. Reverse mode is forward mode on a tape, transposed (Radul et
// al., "You Only Linearize Once", POPL 2023).
#pragma once

#include "spruce/transforms/derive/has_aux.h"
#include "spruce/transforms/derive/linearizer.h"
#include "spruce/transforms/function/checked_function.h"
#include "spruce/transforms/function/empty_leaves.h"

namespace spruce {
namespace internal {

// What a loss returned: the number alone, or the number and what rides along with it.
template <class Out>
struct LossParts {
  static constexpr bool kValue = std::is_same_v<Out, Array>;
  static constexpr bool kAux = false;
  static Array& value(Out& out) { return out; }
};
template <class Aux>
struct LossParts<std::pair<Array, Aux>> {
  static constexpr bool kValue = true;
  static constexpr bool kAux = true;
  static Array& value(std::pair<Array, Aux>& out) { return out.first; }
  static Aux& aux(std::pair<Array, Aux>& out) { return out.second; }
};
template <class First, class... Aux>
struct LossParts<std::tuple<Array, First, Aux...>> {
  static constexpr bool kValue = true;
  static constexpr bool kAux = true;
  static Array& value(std::tuple<Array, First, Aux...>& out) { return std::get<0>(out); }
  static auto aux(std::tuple<Array, First, Aux...>& out) {
    return std::apply([](auto&, auto&... rest) { return std::tuple<First, Aux...>(rest...); }, out);
  }
};

/// f can be differentiated with respect to the arguments I..., and gives a number, maybe with more.
template <class F, class... Args, size_t... I>
constexpr bool check_loss(std::index_sequence<I...>) {
  if constexpr (!check_indices<Args...>(std::index_sequence<I...>())) {
    return false;
  } else if constexpr (check_run<F, Args...>()) {
    using Out = CallResult<F, Args...>;
    constexpr bool ok = LossParts<Out>::kValue;
    static_assert(ok,
                  "spruce: a function to be differentiated returns an Array, or a pair or tuple "
                  "whose first element is that Array");
    return ok;
  } else {
    return false;
  }
}

using tree::internal::fill_leaves;

template <class F, size_t... I>
class ValueAndGrad {
 public:
  ValueAndGrad(F f, const char* op, Loc loc) : f_(std::move(f)), op_(op), loc_(loc) {}

  /// {out, gradients} where `out` is all that the function returned.
  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_loss<F, Args...>(std::index_sequence<I...>()))
      return run(args...);
    else
      return refused<std::pair<Array, typename FirstOf<Args...>::Type>>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const LocScope at(loc_);
    std::tuple<Args...> traced(args...);
    Linearizer lin(op_);
    (lin.mark_tree(std::get<I>(traced)), ...);
    lin.check_marked<I...>(op_, traced);
    auto out = apply_under(lin.interpreter(), op_, f_, traced);
    using Parts = LossParts<decltype(out)>;
    Array& value = Parts::value(out);
    lin.finish(value);
    check_scalar_loss(op_, value);
    lin.strip(out);
    const Array ct = one_of(value);
    const std::vector<Array> cts = lin.pull_back({&ct, 1}, op_);
    const std::tuple<const Args&...> original(args...);
    std::tuple<std::tuple_element_t<I, std::tuple<Args...>>...> grads{std::get<I>(original)...};
    size_t next = 0;
    std::apply([&](auto&... g) { (fill_leaves(g, cts, next), ...); }, grads);
    if constexpr (sizeof...(I) == 1)
      return std::pair{std::move(out), std::move(std::get<0>(grads))};
    else
      return std::pair{std::move(out), std::move(grads)};
  }

  F f_;
  const char* op_;
  Loc loc_;
};

template <class F, size_t... I>
class Grad {
 public:
  Grad(F f, const char* op, Loc loc) : both_(std::move(f), op, loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_loss<F, Args...>(std::index_sequence<I...>()))
      return run(args...);
    else
      return refused<typename FirstOf<Args...>::Type>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    auto [out, grads] = both_(args...);
    using Parts = LossParts<decltype(out)>;
    if constexpr (Parts::kAux)
      return std::pair{std::move(grads), Parts::aux(out)};
    else
      return grads;
  }

  ValueAndGrad<F, I...> both_;
};

}  // namespace internal

/// The gradient of a function with a scalar floating result, with respect to argument 0, or to
/// arguments I... as a tuple.
///
/// Each argument may be any tree; its gradient has the same C++ type. Integer and boolean leaves,
/// buffers and keys have zero gradients. A function that returns a pair or tuple hands out what
/// follows its first element: grad then returns {gradients, rest}, with or without has_aux, since a
/// gradient is that of one number. Grad of an argument that the result does not depend on is zero.
/// Throws DerivativeError if the result is no floating scalar, or the argument has no floating
/// leaf.
template <size_t... I, class F>
auto grad(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  if constexpr (sizeof...(I) == 0)
    return internal::Grad<F, 0>(std::move(f), "grad", loc);
  else
    return internal::Grad<F, I...>(std::move(f), "grad", loc);
}

/// The same for a function that says with has_aux that it returns a number and what is handed out.
template <size_t... I, class F>
auto grad(F f, HasAux, Loc loc = Loc::current()) {
  return grad<I...>(internal::SplitAux<F>(std::move(f)), loc);
}

/// Refused; the compiler says how to write it: grad(f)(x).
template <size_t... I, class F, internal::NoOption<Loc> A, class... B>
auto grad(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

/// As grad, together with what the function returned: {out, gradients}.
template <size_t... I, class F>
auto value_and_grad(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  if constexpr (sizeof...(I) == 0)
    return internal::ValueAndGrad<F, 0>(std::move(f), "value_and_grad", loc);
  else
    return internal::ValueAndGrad<F, I...>(std::move(f), "value_and_grad", loc);
}
/// The same with has_aux: {{value, aux}, gradients}.
template <size_t... I, class F>
auto value_and_grad(F f, HasAux, Loc loc = Loc::current()) {
  return value_and_grad<I...>(internal::SplitAux<F>(std::move(f)), loc);
}

/// Refused; the compiler says how to write it: value_and_grad(f)(x).
template <size_t... I, class F, internal::NoOption<Loc> A, class... B>
auto value_and_grad(const F&, const A&, const B&...) {
  return internal::refuse_arguments<std::pair<Array, Array>, A>();
}

}  // namespace spruce
