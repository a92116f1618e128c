// SPDX-License-Identifier: Apache-2.0
// Mixed precision: parameters in f32, computation in bf16 or f16, results in f32; and the scale of
// a loss that keeps small gradients from vanishing in f16 (Micikevicius et al. 2018).
#pragma once

#include "spruce/core/ops/math.h"
#include "spruce/core/tree/named_arrays.h"
#include "spruce/core/tree/tree.h"

namespace spruce::nn {

namespace internal {

bool is_cast(tree::Leaf kind, const Array& leaf);
// Whether a type is a struct of fields that may hold NamedArrays.
template <class T>
constexpr bool is_plain_struct() {
  if constexpr (std::is_same_v<T, Buffer> || tree::internal::Static<T> || std::is_empty_v<T> ||
                TreeTraits<T>::kDefined || !std::is_aggregate_v<T> ||
                tree::internal::IsStdArray<T>::value)
    return false;
  else
    return fields::kObstacle<T> == fields::Obstacle::kNone;
}
void check_precision(Dtype dtype);

// f(leaf) for the floating arrays that are neither buffers nor keys.
template <class T, class F>
void for_each_floating(T& x, const F& f) {
  if constexpr (std::is_const_v<T>) {  // a static field
  } else if constexpr (tree::internal::IsTuple<T>::value) {
    std::apply([&](auto&... part) { (for_each_floating(part, f), ...); }, x);
  } else if constexpr (is_plain_struct<T>()) {
    fields::for_each(x, [&](std::string_view, auto& field) { for_each_floating(field, f); });
  } else {
    if constexpr (std::is_same_v<T, NamedArrays>) {
      if (x.holds_buffers()) return;
    }
    tree::internal::for_each_leaf(x, [&](Array& a, tree::Leaf kind) {
      if (is_cast(kind, a)) f(a);
    });
  }
}

template <class T>
T cast_floating(const T& x, Dtype dtype) {
  check_precision(dtype);
  T out = x;
  for_each_floating(out, [&](Array& a) { a = a.astype(dtype); });
  return out;
}

}  // namespace internal

/// Which dtype is used where. The casts concern floating arrays of any tree: integers, bool, keys
/// and buffers (running statistics) stay as they are, among them NamedArrays that hold buffers, as
/// those of functionalize(), where they are an argument or stand in a tuple or struct. They are
/// differentiable; a gradient has the dtype of what it is the gradient of. Throws DtypeError for
/// dtypes that are not floating.
struct Precision {
  Dtype parameters = float32;  ///< in which the model is kept
  Dtype compute = bfloat16;    ///< of what the function sees
  Dtype output = float32;      ///< of what it returns

  /// A tree in the dtype of parameters.
  template <class T>
  T to_parameters(const T& x) const {
    return internal::cast_floating(x, parameters);
  }
  /// A tree in the dtype of computation.
  template <class T>
  T to_compute(const T& x) const {
    return internal::cast_floating(x, compute);
  }
  /// A tree in the dtype of output.
  template <class T>
  T to_output(const T& x) const {
    return internal::cast_floating(x, output);
  }
};

/// The function with its arguments cast to the dtype of computation and its result to that of
/// output: mixed(loss) takes f32 parameters, computes in bf16, and grad of it gives f32.
template <class F>
auto mixed(F f, Precision precision = {}) {
  return [f = std::move(f), precision](const auto&... args) {
    return precision.to_output(f(precision.to_compute(args)...));
  };
}

/// `model` with the buffers of `from`: the new running statistics of a model that was cast to
/// compute, with the parameters at full precision. Throws TreeError where the forms differ.
template <class T>
T with_buffers(const T& model, const T& from, Loc loc = Loc::current()) {
  const auto is_buffer = [](tree::Leaf kind, const Array&) { return kind == tree::Leaf::kBuffer; };
  return tree::internal::map_leaves(
      tree::internal::MapSelected{"with_buffers", loc, is_buffer},
      [](const Array&, const Array& buffer) { return buffer; }, model, from);
}

/// bool[]: whether all floating elements of a tree are finite.
Array all_finite(const std::vector<Array>& leaves);
template <class T>
Array all_finite(const T& x) {
  return all_finite(tree::leaves(x));
}

/// Leaf by leaf where(condition, a, b), keys as in `b`: to skip a step whose gradients are not
/// finite.
template <class T>
T select_tree(const Array& condition, const T& a, const T& b, Loc loc = Loc::current()) {
  const LocScope at(loc);
  return tree::map(
      [&](const Array& y, const Array& x) { return x.defined() ? where(condition, x, y) : x; }, b,
      a);
}

/// A factor for the loss, which is divided out of the gradients: one that stays, or one that grows
/// while gradients are finite and shrinks where they are not. A tree: hand it through the pure step
/// like the optimizer's state.
///
///   const auto scaled = [&](const Model& m) { return scale.scale(loss(m)); };
///   const Model grads = scale.unscale(grad(scaled)(model));
///   const Array finite = all_finite(grads);
///   scale = scale.adjusted(finite);
///   model = select_tree(finite, updated, model);
struct LossScale {
  Array value = array(32768.0f);         ///< f32[]: the factor
  Array good_steps = array(int32_t{0});  ///< i32[]: steps with finite gradients since it changed
  int64_t period = 2000;                 ///< so many of them make it grow; 0: it never changes
  double factor = 2;                     ///< by which it grows and shrinks
  double smallest = 1;                   ///< below which it does not shrink

  /// A factor that never changes. Throws ValueError unless it is positive.
  static LossScale fixed(double value, Loc loc = Loc::current());

  /// The floating arrays of a tree times the factor, in their dtypes.
  template <class T>
  T scale(const T& x) const {
    T out = x;
    internal::for_each_floating(out, [&](Array& a) { a = a * value.astype(a.dtype()); });
    return out;
  }
  /// The floating arrays divided by the factor, in f32 at least.
  template <class T>
  T unscale(const T& x) const {
    T out = x;
    internal::for_each_floating(out, [&](Array& a) { a = a / value; });
    return out;
  }
  /// The factor for the next step. `finite` is bool[].
  LossScale adjusted(const Array& finite) const;
};

}  // namespace spruce::nn
