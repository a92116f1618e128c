// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of two and three arrays. They promote to one dtype (docs/promotion.md) and
// broadcast as NumPy does; gradients are summed over broadcast axes. In the comments g is the
// cotangent of the result y.
#pragma once

#include <vector>

#include "spruce/core/ops/function.h"

namespace spruce {

/// The primitives behind the functions below, of which rem is fmod, clamp is clip and select is
/// where; graphs print each by its name without the `_p`.
extern const Primitive add_p, atan2_p, clamp_p, copysign_p, div_p, gcd_p, hypot_p, logaddexp_p,
    max_p, min_p, mul_p, nextafter_p, pow_p, rem_p, select_p, sub_p;

namespace internal::math {
Array divide(const Array& a, const Array& b);
Array floor_divide(const Array& a, const Array& b);
Array remainder(const Array& a, const Array& b);
Array power(const Array& x, const Array& y);
Array float_power(const Array& x, const Array& y);
Array fmax(const Array& a, const Array& b);
Array fmin(const Array& a, const Array& b);
Array heaviside(const Array& x, const Array& at_zero);
Array logaddexp2(const Array& a, const Array& b);
Array lcm(const Array& a, const Array& b);
}  // namespace internal::math

/// a + b; integers wrap, of bool it is the logical or. Grad: g to both.
inline constexpr BinaryFunction add{add_p};
/// a - b; integers wrap. Throws DtypeError for bool. Grad: g and -g.
inline constexpr BinaryFunction subtract{sub_p};
/// a * b; integers wrap, of bool it is the logical and. Grad: g b and g a.
inline constexpr BinaryFunction multiply{mul_p};
/// a / b; integers and bool are converted to f32, so 7 / 2 is 3.5. Grad: g / b and -g y / b.
inline constexpr ComposedBinary divide{internal::math::divide};
/// The largest integer that is not above a / b, in the promoted dtype. An integer divided by 0
/// gives -1 (all bits set); a float gives a / 0. Throws DtypeError for bool. Grad: 0.
inline constexpr ComposedBinary floor_divide{internal::math::floor_divide};
/// a - b * floor_divide(a, b): it has the sign of b. Of integers, remainder(a, 0) is a; of floats
/// NaN. Throws DtypeError for bool. Grad: g and -g floor_divide(a, b).
inline constexpr ComposedBinary remainder{internal::math::remainder};
/// a - b * trunc(a / b): it has the sign of a, as in C. Of integers, fmod(a, 0) is a; of floats
/// NaN. Throws DtypeError for bool. Grad: g and -g trunc(a / b).
inline constexpr BinaryFunction fmod{rem_p};
/// x^y. A C++ integer y (`power(x, 3)`) keeps the dtype of x, multiplies, and has derivatives
/// everywhere; a negative one of an integer x throws ValueError. Of integer arrays, a negative y
/// gives 1 / x^|y| rounded toward zero, and 0 for x = 0. Throws DtypeError for bool. Grad: g y
/// x^(y-1), 0 where y = 0, and g log(x) x^y, 0 where x = 0.
inline constexpr ComposedBinary power{internal::math::power};
/// x^y with both as floating values.
inline constexpr ComposedBinary float_power{internal::math::float_power};

/// The angle of the point (x, y) = (b, a) in [-pi, pi]: atan2(y, x). Grad: g x / (x^2 + y^2) and -g
/// y / (x^2 + y^2), 0 at the origin.
inline constexpr BinaryFunction atan2{atan2_p};
/// sqrt(a^2 + b^2) without overflow in between; infinite if one of them is. Grad: g a / y and g b /
/// y, 0 at 0.
inline constexpr BinaryFunction hypot{hypot_p};
/// log(e^a + e^b) without overflow in between. Grad: g logistic(a - b) and g logistic(b - a).
inline constexpr BinaryFunction logaddexp{logaddexp_p};
/// log2(2^a + 2^b) without overflow in between.
inline constexpr ComposedBinary logaddexp2{internal::math::logaddexp2};
/// The magnitude of a with the sign of b (also that of zeros and NaN). Grad: g sign(a) times the
/// sign of b, and 0.
inline constexpr BinaryFunction copysign{copysign_p};
/// The next value after a toward b in the dtype. Grad: g and 0.
inline constexpr BinaryFunction nextafter{nextafter_p};
/// The greatest common divisor of integers, at least 0. Throws DtypeError for other dtypes.
inline constexpr BinaryFunction gcd{gcd_p};
/// The least common multiple of integers, at least 0. Throws DtypeError for other dtypes.
inline constexpr ComposedBinary lcm{internal::math::lcm};

/// The larger one; NaN if one of them is. Grad: g to the larger, half of it to each where they are
/// equal.
inline constexpr BinaryFunction maximum{max_p};
/// The smaller one; NaN if one of them is. Grad: g to the smaller, half of it to each where they
/// are equal.
inline constexpr BinaryFunction minimum{min_p};
/// The larger one; the other one where one is NaN. Grad as maximum, all of it to the one that is no
/// NaN.
inline constexpr ComposedBinary fmax{internal::math::fmax};
/// The smaller one; the other one where one is NaN. Grad as minimum, all of it to the one that is
/// no NaN.
inline constexpr ComposedBinary fmin{internal::math::fmin};
/// 0 where x < 0, 1 where x > 0, `at_zero` where x = 0; NaN for NaN. Grad: 0 to x.
inline constexpr ComposedBinary heaviside{internal::math::heaviside};

/// `a` where `condition` is true (not zero), else `b`; all three broadcast, a and b are promoted.
/// Of trees: nn::select_tree. Grad: g where it was chosen, 0 elsewhere.
inline constexpr struct WhereFunction {
  Array operator()(const Array& condition, const Array& a, const Array& b,
                   Loc loc = Loc::current()) const;
  /// nonzero(condition): one array of positions for each axis. Throws TracerError where the value
  /// is not known.
  std::vector<Array> operator()(const Array& condition, Loc loc = Loc::current()) const;
} where{};
/// `x` limited to [low, high], which may be numbers or arrays; `high` where low > high. NaN stays
/// NaN. The result has the dtype that all three promote to. Grad to x: g within, also at the edges
/// (as PyTorch), 0 outside; to low and high: g where x is below, above.
inline constexpr struct ClipFunction {
  Array operator()(const Array& x, const Array& low, const Array& high,
                   Loc loc = Loc::current()) const;
} clip{};

}  // namespace spruce
