// SPDX-License-Identifier: Apache-2.0
// What optimizers are made of: maps over the leaves that are trained, counts of updates, running
// means.
#pragma once

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/tree/tree.h"
#include "spruce/optim/hyperparam.h"

namespace spruce::optim {
namespace internal {

// Throws for leaves of two trees that do not fit; `path` leads to the first, "" where it is
// unknown.
[[noreturn]] void throw_leaves(const std::string& path, const Array& a, const Array& b);
// Throws for a leaf of a state whose shape is not the one that the parameter `a` asks for.
void check_shape(const char* op, const char* part, const Array& a, const Array& in_state,
                 const Shape& expected);

// What the leaves of all trees have to have in common. Gradients and state have one dtype: a state
// that took another one in an update would no longer fit a compiled step or a loop.
enum class Alike : uint8_t { kNothing, kShapes, kTypes };

inline bool is_trainable(const Array& a, tree::Leaf kind) {
  return kind == tree::Leaf::kArray && a.defined() && is_floating(a.dtype());
}

// Maps the trainable leaves, which have to be alike in all trees.
struct MapChecked {
  Alike alike;
  Loc loc = LocScope::current();

  void operator()(tree::internal::LeafFunction f, tree::internal::AnyMutableTree out,
                  tree::internal::AnyTree x, std::span<const tree::internal::AnyTree> rest) const;
};

template <class F, class T, class... Rest>
T map_checked(Alike alike, F&& f, const T& x, const Rest&... rest) {
  return tree::internal::map_leaves(MapChecked{alike}, f, x, rest...);
}
// For states whose leaves have shapes of their own; f checks them by check_shape.
template <class F, class T, class... Rest>
T map_any_shape(F&& f, const T& x, const Rest&... rest) {
  return map_checked(Alike::kNothing, f, x, rest...);
}
// The trainable leaves of a tree.
template <class T>
std::vector<Array> trainable_leaves(const T& x) {
  std::vector<Array> out;
  tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf kind) {
    if (is_trainable(a, kind)) out.push_back(a);
  });
  return out;
}

// f64 as it is, all others, numbers too, as f32.
inline Array widened(const Array& a) {
  return a.aval().strong_dtype() == float64 ? a : astype(a, float32);
}

// bool[]: all trainable leaves are finite.
Array all_finite(const std::vector<Array>& grads);
// f(leaf) summed over the trainable leaves, each f[]: f32[], f64[] where there is one; 0 without
// any.
template <class F, class T>
Array total(F&& f, const T& x) {
  Array sum = 0.0f;
  tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf kind) {
    if (is_trainable(a, kind)) sum = sum + f(widened(a));
  });
  return sum;
}
// The widest dtype among the trainable leaves, at least f32.
template <class T>
Dtype widest_dtype(const T& x) {
  Dtype widest = float32;
  tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf kind) {
    if (is_trainable(a, kind) && a.aval().strong_dtype() == float64) widest = float64;
  });
  return widest;
}

[[noreturn]] void throw_moved_from(const char* op);
// Throws TreeError for parameters that are all undefined where the updates are not.
template <class T, class U>
void check_given(const char* op, const T& params, const U& updates) {
  const auto any = [](const auto& x) {
    bool defined = false;
    tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf) { defined |= a.defined(); });
    return defined;
  };
  if (!any(params) && any(updates)) throw_moved_from(op);
}

// Throws ValueError "multi_steps: k is 0, it must be within 1..2147483647".
void check_steps(const char* op, const char* name, int64_t value, int64_t least = 1);
/// Throws TreeError unless a state of as many arrays as `in_state` is one of these gradients.
void check_size(const char* op, size_t in_state, size_t in_grads);

/// TreeError: a state has a part that the options do not ask for, or lacks one. `part` is its name,
/// `option` what decides, as "momentum is 0.9".
[[noreturn]] void throw_part(const char* op, const char* part, bool in_state,
                             const std::string& option);

}  // namespace internal

/// f(leaf, leaves at the same places of rest...) in place of each leaf of `x` that is trained: a
/// floating array that is no Buffer. Integers, bool, buffers, keys and undefined arrays stay as
/// they are in `x`, and so do the type and the static fields. Throws TreeError where forms differ,
/// ShapeError where shapes do; dtypes may differ.
template <class F, class T, class... Rest>
T map_trainable(F&& f, const T& x, const Rest&... rest) {
  return internal::map_checked(internal::Alike::kShapes, f, x, rest...);
}
/// map_trainable for gradients and state, whose dtypes have to be one as well: DtypeError where
/// they are not.
template <class F, class T, class... Rest>
T map_with_state(F&& f, const T& x, const Rest&... rest) {
  return internal::map_checked(internal::Alike::kTypes, f, x, rest...);
}

/// Zeros with the shapes and dtypes of all leaves, for a state to begin with; keys and undefined
/// arrays stay as they are.
template <class T>
T zeros_like_tree(const T& x) {
  return tree::map([](const Array& a) { return a.defined() ? zeros_like(a) : a; }, x);
}
/// The tree with numbers among its trainable leaves as arrays, for a state that holds parameters.
template <class T>
T as_arrays(const T& x) {
  return map_trainable([](const Array& a) { return a; }, x);
}
/// `value` in each place of the trainable leaves, and zeros_like_tree elsewhere.
template <class T>
T full_like_tree(const T& x, const Hyperparam& value) {
  return map_trainable([&](const Array& a) { return broadcast_to(value.in(a.dtype()), a.shape()); },
                       zeros_like_tree(x));
}

/// i32[]: 0.
Array zero_count();
/// i32[]: count + 1, or count where that is the largest i32.
Array next_count(const Array& count);
/// Throws TreeError, naming the operation, unless `count` is i32[]: the state did not come from
/// init.
void check_count(const char* op, const Array& count);

/// 1 - decay^count for bias correction, as a number of that dtype (f16 and bf16 by way of f32);
/// count is i32[].
Array bias_correction(const Hyperparam& decay, const Array& count, Dtype dtype);
/// decay * mean + (1 - decay) * x: one step of a running mean, for two arrays of one type.
Array running_mean(const Array& x, const Array& mean, const Hyperparam& decay);
/// running_mean for each trainable leaf of `x`. Throws as map_with_state.
template <class T>
T update_moment(const T& x, const T& mean, const Hyperparam& decay) {
  return map_with_state([&](const Array& a, const Array& m) { return running_mean(a, m, decay); },
                        x, mean);
}
/// The same for the squares of `x`.
template <class T>
T update_second_moment(const T& x, const T& mean, const Hyperparam& decay) {
  return map_with_state(
      [&](const Array& a, const Array& m) { return running_mean(square(a), m, decay); }, x, mean);
}

}  // namespace spruce::optim
