// SPDX-License-Identifier: Apache-2.0
// Norms of vectors and matrices, with the orders of numpy.linalg.norm.
#pragma once

#include <string_view>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/callable.h"

namespace spruce {

/// The order of a norm: a number, "fro" or "nuc"; without one, the square root of the sum of
/// squares.
class NormOrder {
 public:
  /// Not given.
  constexpr NormOrder() = default;
  /// A number: 1, 2, 0.5, INFINITY, -INFINITY.
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr NormOrder(T ord) : kind_(Kind::kNumber), number_(static_cast<double>(ord)) {}
  /// "fro", Frobenius', or "nuc", the sum of the singular values. Throws ValueError for others.
  NormOrder(const char* name);

  /// Which order it is.
  enum class Kind : uint8_t {
    kNone,       ///< not given
    kNumber,     ///< number()
    kFrobenius,  ///< "fro"
    kNuclear     ///< "nuc"
  };
  /// Which order it is.
  constexpr Kind kind() const { return kind_; }
  /// The number, for Kind::kNumber.
  constexpr double number() const { return number_; }

 private:
  Kind kind_ = Kind::kNone;
  double number_ = 2;
};

/// Options of norm.
struct NormOptions {
  NormOrder ord{};        ///< see norm
  AxisArg axis = none;    ///< one axis: of vectors; two: of matrices, rows first; none: all of x
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// The norm of vectors or matrices. Without `ord` it is the square root of the sum of squares over
/// the axes, however many: norm(x) is Euclid's of a vector and Frobenius' of a matrix. With one it
/// depends on the number of axes, named or those of x.
///   one axis    (sum |x|^ord)^(1/ord); 0: how many are not zero; infinity: the largest |x|;
///               -infinity: the smallest
///   two axes    "fro": Frobenius'; 1: the largest sum of |x| over a column; infinity: over a row;
///               -1, -infinity: the smallest such sums; 2, -2: the largest and the smallest
///               singular value; "nuc": their sum
/// Other orders of matrices are a ValueError. 0 over no elements. f16 and bf16 are computed in
/// f32; integers give f32. Throws ShapeError for an order with three axes or more, and for a
/// smallest one of no elements. Grad of the square root: g x / y, 0 where y is 0.
inline constexpr struct NormFunction {
  Array operator()(const Array& x, const NormOptions& options = {}, Loc loc = Loc::current()) const;
  /// The same with the axes in front of the options, as reductions have them: norm(x, 0, {.ord =
  /// 1}). Throws ValueError where the options name axes too.
  Array operator()(const Array& x, const AxisArg& axes, const NormOptions& options,
                   Loc loc = Loc::current()) const;
  /// norm(x, 1) is the order 1 in NumPy, and would be axis 1 of the other reductions: it is
  /// refused.
  template <class T>
  requires std::is_arithmetic_v<T> Array operator()(const Array&, T) const {
    static_assert(internal::kNever<T>,
                  "spruce: norm(x, 1) is the order 1 in NumPy, and axis 1 in other reductions; "
                  "write norm(x, {.ord = 1}) or norm(x, {.axis = 1})");
    return internal::refused<Array>();
  }
} norm{};

}  // namespace spruce
