// SPDX-License-Identifier: Apache-2.0
// host_call: a C++ function of values inside of functions that are traced or compiled.
#pragma once

#include <functional>
#include <tuple>
#include <vector>

#include "spruce/transforms/control/body/body.h"

namespace spruce {

/// Options of host_call.
struct HostCallOptions {
  Dtype dtype = float32;    ///< of the result, where a shape is given for it
  bool vectorized = false;  ///< under vmap the function is called once, with the mapped axis in
                            ///< front of all its arrays and of its results; else once an example
  bool effects = false;     ///< it does more than compute: it is called although nothing needs its
                            ///< result, in the order of the program
};

/// The shape of the result of host_call. It brings along the line of the user's code.
class HostShape {
 public:
  /// Rank 0.
  HostShape(Loc at = Loc::current()) : loc(at) {}
  /// These sizes; `at` is filled in by the compiler.
  HostShape(std::initializer_list<ShapeEntry> sizes, Loc at = Loc::current())
      : shape(sizes), loc(at) {}
  template <std::convertible_to<Shape> T>
  HostShape(const T& sizes, Loc at = Loc::current()) : shape(sizes), loc(at) {}

  Shape shape;  ///< as it was given
  Loc loc;      ///< the line of the user's code
};

namespace internal {

/// Applies a function of leaves.
std::vector<Array> apply_host_call(
    std::function<std::vector<Array>(std::span<const Array>)> function,
    const std::vector<Array>& in, const std::vector<Aval>& results, const HostCallOptions& options);

/// The tree with something in the place of its leaves that holds no values.
template <class T>
T without_leaves(const T& x) {
  T out = x;
  const Array nothing = make_array({Dtype::kBool, false, Shape{0}});
  const Array no_key = make_array({Dtype::kUint32, false, Shape{0, 2}});
  tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf kind) {
    if (a.defined()) a = kind == tree::Leaf::kKey ? no_key : nothing;
  });
  return out;
}

template <class Out, class F, class... Args>
Out run_host_call(F f, const Out& like, const std::vector<Aval>& types,
                  const HostCallOptions& options, const Args&... args) {
  const std::tuple<Args...> given(args...);
  std::vector<Array> in;
  append_leaves(in, given);
  auto function = [f = std::move(f), form = without_leaves(given)](std::span<const Array> leaves) {
    const std::tuple<Args...> values = with_leaves(form, leaves);
    const Out result(std::apply(f, values));
    std::vector<Array> out;
    append_leaves(out, result);
    return out;
  };
  return with_leaves(like, apply_host_call(std::move(function), in, types, options));
}

/// f can be called with these arguments, and gives an Out.
template <class Out, class F, class... Args>
constexpr bool check_host_call() {
  if constexpr (check_run<F, Args...>()) {
    constexpr bool ok = std::is_constructible_v<Out, CallResult<F, Args...>>;
    static_assert(ok,
                  "spruce: the function given to host_call returns another type than its result "
                  "is said to have: an Array where a shape is given");
    return ok;
  } else {
    return false;
  }
}

}  // namespace internal

/// f(args...), an Array of that shape and of f32, computed by C++ code that reads the values of its
/// arguments: a simulator, a table, a library. f gets concrete arrays of the CPU in trees like
/// args, at once in eager code, under jit at each call of the compiled function. f is copied and
/// kept as long as what was compiled, and has to be safe to call from several threads if that is.
///
/// It counts as a pure function: it is not called where nothing needs its result, and called again
/// where a result is computed again (checkpoint); {.effects = true} keeps the call. It has no
/// derivative: custom_jvp or custom_vjp around it give it one, and stop_gradient zero; else
/// DerivativeError. Under vmap it is called once an example, in order, or once in all where it is
/// vectorized. What f throws comes out of the call that runs. Throws ShapeError or DtypeError where
/// the result of f is another than was said.
template <class F, class... Args>
Array host_call(F f, const HostShape& shape, const HostCallOptions& options, const Args&... args) {
  const LocScope at(shape.loc);
  if constexpr (internal::check_host_call<Array, F, Args...>())
    return internal::run_host_call<Array>(std::move(f), internal::make_array({}),
                                          {Aval{options.dtype, false, shape.shape}}, options,
                                          args...);
  else
    return internal::refused<Array>();
}
template <class F, class... Args>
Array host_call(F f, const HostShape& shape, const Args&... args) {
  return host_call(std::move(f), shape, HostCallOptions{}, args...);
}

/// The same with a result like `like`, any tree: its leaves say which shapes and dtypes those of
/// the result have.
template <class F, class Like, class... Args>
requires(!std::convertible_to<const Like&, HostShape>) Like
    host_call(F f, const Like& like, const HostCallOptions& options, const Args&... args) {
  if constexpr (internal::check_host_call<Like, F, Args...>()) {
    std::vector<Array> leaves;
    internal::append_leaves(leaves, like);
    std::vector<Aval> types;
    for (const Array& a : leaves) types.push_back({a.dtype(), false, a.shape()});
    return internal::run_host_call<Like>(std::move(f), internal::without_leaves(like), types,
                                         options, args...);
  } else {
    return internal::refused<Like>();
  }
}
template <class F, class Like, class... Args>
requires(!std::convertible_to<const Like&, HostShape>) Like
    host_call(F f, const Like& like, const Args&... args) {
  return host_call(std::move(f), like, HostCallOptions{}, args...);
}

}  // namespace spruce
