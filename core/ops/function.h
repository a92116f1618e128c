// SPDX-License-Identifier: Apache-2.0
// Elementwise functions as objects, so that they can be passed by name: vmap(tanh), tree::map(add,
// a, b).
#pragma once

#include <span>
#include <string>

#include "spruce/core/array.h"
#include "spruce/core/empty_array_error.h"

namespace spruce {

struct Primitive;

/// A primitive of one array. Integers and bool are converted to f32 first where it is defined on
/// floating values only.
struct UnaryFunction {
  const Primitive& primitive;   ///< which one, with one input and one output
  bool keeps_integers = false;  ///< integers and bool are returned as they are: floor, round
  const char* name = nullptr;   ///< for messages; null: the primitive's public name
  /// A temporary gives its memory to the result.
  Array operator()(Array x, Loc loc = Loc::current()) const;
};

/// A function of one array that is composed of others.
struct ComposedUnary {
  /// What it computes; promotes and checks by itself.
  Array (*function)(const Array&);
  /// function(x). Throws what it throws.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// A primitive of two arrays. They are promoted to one dtype (docs/promotion.md), which is floating
/// where the primitive is defined on floating values only, and broadcast as in NumPy.
struct BinaryFunction {
  const Primitive& primitive;  ///< which one, with two inputs and one output
  /// The result of the broadcast shape. Throws ShapeError for shapes that do not broadcast,
  /// DtypeError where the primitive does not take the dtype.
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
};

/// A function of two arrays that is composed of others; promotes and broadcasts as BinaryFunction.
struct ComposedBinary {
  /// What it computes; promotes and checks by itself.
  Array (*function)(const Array&, const Array&);
  /// function(a, b). Throws what it throws.
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
};

namespace internal {

/// Throws ValueError, naming `op` and the argument, unless the arrays that follow are defined:
/// require_defined("dot", "a", a, "b", b).
template <class... Rest>
void require_defined(const char* op, const char* argument, const Array& x, const Rest&... rest) {
  if (!x.defined()) [[unlikely]]
    throw_undefined(op, argument);
  if constexpr (sizeof...(rest) > 0) require_defined(op, rest...);
}
/// The same for each array of a list.
void require_all_defined(const char* op, std::span<const Array> arrays);

/// `x` in that dtype. A weak number of rank 0 stays weak and is converted at once; an integer that
/// `dtype` cannot hold throws ValueError naming `op`.
Array converted(const char* op, const Array& x, Dtype dtype);
/// `x` if it is floating, else `x` as f32.
Array floating(const char* op, const Array& x);
/// Applies a binary primitive after promotion to a common dtype.
Array promoted(const Primitive& p, const Array& a, const Array& b);
/// The same, and the result may take the memory of an operand that nothing else holds.
Array promoted_reusing(const Primitive& p, Array a, Array b);
/// As promoted(), with integers and bool converted to f32.
Array promoted_floating(const Primitive& p, const Array& a, const Array& b);
/// True for a concrete number of rank 0 that gives way in promotion.
bool is_weak_constant(const Array& x);

}  // namespace internal
}  // namespace spruce
