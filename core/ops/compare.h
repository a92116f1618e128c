// SPDX-License-Identifier: Apache-2.0
// Comparisons and tests of values; their results are bool and have no gradient.
#pragma once

#include "spruce/core/ops/function.h"

namespace spruce {

/// The primitives behind the functions below; graphs print each by its name without the `_p`.
extern const Primitive eq_p, ge_p, gt_p, is_finite_p, le_p, lt_p, ne_p;

namespace internal::math {
Array isnan(const Array& x);
Array isinf(const Array& x);
Array isposinf(const Array& x);
Array isneginf(const Array& x);
Array signbit(const Array& x);
}  // namespace internal::math

/// a == b, element by element; NaN equals nothing.
inline constexpr BinaryFunction equal{eq_p};
/// a != b.
inline constexpr BinaryFunction not_equal{ne_p};
/// a < b. Comparisons with NaN are false; of bool, false < true.
inline constexpr BinaryFunction less{lt_p};
/// a <= b.
inline constexpr BinaryFunction less_equal{le_p};
/// a > b.
inline constexpr BinaryFunction greater{gt_p};
/// a >= b.
inline constexpr BinaryFunction greater_equal{ge_p};

/// True where x is NaN.
inline constexpr ComposedUnary isnan{internal::math::isnan};
/// True where x is infinite.
inline constexpr ComposedUnary isinf{internal::math::isinf};
/// True where x is +inf.
inline constexpr ComposedUnary isposinf{internal::math::isposinf};
/// True where x is -inf.
inline constexpr ComposedUnary isneginf{internal::math::isneginf};
/// True where x is neither infinite nor NaN.
inline constexpr UnaryFunction isfinite{is_finite_p};
/// True where the sign of x is set, also for -0.0 and NaN.
inline constexpr ComposedUnary signbit{internal::math::signbit};

/// How close two numbers are to count as equal.
struct CloseOptions {
  double rtol = 1e-5;      ///< relative to |b|
  double atol = 1e-8;      ///< absolute
  bool equal_nan = false;  ///< NaN is close to NaN
};
/// True where |a - b| <= atol + rtol |b|; infinities are close to themselves. Computed in f64 where
/// a or b is f64 or an integer of 32 or 64 bits, else in f32.
inline constexpr struct IscloseFunction {
  Array operator()(const Array& a, const Array& b, const CloseOptions& options = {},
                   Loc loc = Loc::current()) const;
} isclose{};
/// True if all elements are close; a and b broadcast. Throws TracerError for values that are not
/// known while they are traced, ShapeError for shapes that do not broadcast.
inline constexpr struct AllcloseFunction {
  bool operator()(const Array& a, const Array& b, const CloseOptions& options = {},
                  Loc loc = Loc::current()) const;
} allclose{};

/// Options of array_equal().
struct ArrayEqualOptions {
  bool equal_nan = false;  ///< NaN equals NaN
};
/// True if the shapes are the same and all elements are equal after promotion. Throws TracerError
/// for values that are not known while they are traced.
inline constexpr struct ArrayEqualFunction {
  bool operator()(const Array& a, const Array& b, const ArrayEqualOptions& options = {},
                  Loc loc = Loc::current()) const;
} array_equal{};

}  // namespace spruce
