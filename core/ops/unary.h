// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one array. Functions that are defined on floating values convert
// integers and bool to f32; f16 and bf16 are computed in f32 and rounded once. NaN gives NaN. In
// the comments g is the cotangent of the result y.
#pragma once

#include <optional>

#include "spruce/core/ops/function.h"

namespace spruce {

/// The primitives behind the functions below, behind power() of a C++ integer (integer_pow) and
/// isfinite; graphs print each by its name without the `_p`.
extern const Primitive abs_p, acos_p, acosh_p, asin_p, asinh_p, atan_p, atanh_p, cbrt_p, ceil_p,
    cos_p, cosh_p, digamma_p, erf_inv_p, erf_p, erfc_p, exp2_p, exp_p, expm1_p, floor_p,
    integer_pow_p, is_finite_p, lgamma_p, log10_p, log1p_p, log2_p, log_p, logistic_p, neg_p,
    polygamma_p, round_p, rsqrt_p, sign_p, sin_p, sinh_p, sqrt_p, tan_p, tanh_p, trunc_p;

/// The parameter of integer_pow: y = x^n.
struct IntegerPowParams {
  int64_t n = 0;  ///< the exponent
};

/// The parameter of polygamma: the n-th derivative of digamma.
struct PolygammaParams {
  int64_t n = 0;  ///< 0 or more
};

namespace internal::math {
Array positive(const Array& x);
Array square(const Array& x);
Array reciprocal(const Array& x);
Array sinc(const Array& x);
Array deg2rad(const Array& x);
Array rad2deg(const Array& x);
}  // namespace internal::math

/// e^x. Grad: g y.
inline constexpr UnaryFunction exp{exp_p};
/// 2^x. Grad: g y ln 2.
inline constexpr UnaryFunction exp2{exp2_p};
/// e^x - 1, exact near 0. Grad: g (y + 1).
inline constexpr UnaryFunction expm1{expm1_p};
/// The natural logarithm; log(0) is -inf, that of a negative number NaN. Grad: g / x.
inline constexpr UnaryFunction log{log_p};
/// The logarithm to base 2. Grad: g / (x ln 2).
inline constexpr UnaryFunction log2{log2_p};
/// The logarithm to base 10. Grad: g / (x ln 10).
inline constexpr UnaryFunction log10{log10_p};
/// log(1 + x), exact near 0. Grad: g / (1 + x).
inline constexpr UnaryFunction log1p{log1p_p};
/// The square root; NaN for negative numbers. Grad: g / (2 y), infinite at 0.
inline constexpr UnaryFunction sqrt{sqrt_p};
/// 1 / sqrt(x). Grad: -g y / (2 x).
inline constexpr UnaryFunction rsqrt{rsqrt_p};
/// The cube root, of negative numbers too. Grad: g / (3 y^2), infinite at 0.
inline constexpr UnaryFunction cbrt{cbrt_p};

/// The sine of an angle in radians. Grad: g cos x.
inline constexpr UnaryFunction sin{sin_p};
/// The cosine. Grad: -g sin x.
inline constexpr UnaryFunction cos{cos_p};
/// The tangent. Grad: g (1 + y^2).
inline constexpr UnaryFunction tan{tan_p};
/// The angle in [-pi/2, pi/2] with that sine; NaN outside of [-1, 1]. Grad: g / sqrt(1 - x^2).
inline constexpr UnaryFunction asin{asin_p};
/// The angle in [0, pi] with that cosine; NaN outside of [-1, 1]. Grad: -g / sqrt(1 - x^2).
inline constexpr UnaryFunction acos{acos_p};
/// The angle in (-pi/2, pi/2) with that tangent. Grad: g / (1 + x^2).
inline constexpr UnaryFunction atan{atan_p};
/// The hyperbolic sine. Grad: g cosh x.
inline constexpr UnaryFunction sinh{sinh_p};
/// The hyperbolic cosine. Grad: g sinh x.
inline constexpr UnaryFunction cosh{cosh_p};
/// The hyperbolic tangent. Grad: g (1 - y^2).
inline constexpr UnaryFunction tanh{tanh_p};
/// The inverse of sinh. Grad: g / sqrt(x^2 + 1).
inline constexpr UnaryFunction asinh{asinh_p};
/// The inverse of cosh, at least 0; NaN below 1. Grad: g / sqrt(x^2 - 1).
inline constexpr UnaryFunction acosh{acosh_p};
/// The inverse of tanh; NaN outside of [-1, 1]. Grad: g / (1 - x^2).
inline constexpr UnaryFunction atanh{atanh_p};

/// The error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x. Grad: g 2/sqrt(pi)
/// exp(-x^2).
inline constexpr UnaryFunction erf{erf_p};
/// 1 - erf(x), exact where erf is near 1. Grad: -g 2/sqrt(pi) exp(-x^2).
inline constexpr UnaryFunction erfc{erfc_p};
/// The inverse of erf on (-1, 1); infinite at -1 and 1, NaN beyond. Grad: g sqrt(pi)/2 exp(y^2).
inline constexpr UnaryFunction erf_inv{erf_inv_p};
/// log |Gamma(x)|. Grad: g digamma(x).
inline constexpr UnaryFunction lgamma{lgamma_p};
/// The derivative of lgamma; NaN at the negative integers. Grad: g polygamma(1, x).
inline constexpr UnaryFunction digamma{digamma_p};
/// The n-th derivative of digamma; polygamma(0, x) is digamma(x). Throws ValueError for n outside
/// of 0..100. Grad: g polygamma(n + 1, x).
inline constexpr struct PolygammaFunction {
  Array operator()(int64_t n, const Array& x, Loc loc = Loc::current()) const;
} polygamma{};
/// 1 / (1 + e^-x). Grad: g y (1 - y).
inline constexpr UnaryFunction logistic{logistic_p};
/// The same as logistic.
inline constexpr UnaryFunction sigmoid{logistic_p, false, "sigmoid"};

/// -x; unsigned integers wrap. Throws DtypeError for bool. Grad: -g.
inline constexpr UnaryFunction negative{neg_p};
/// x itself. Throws DtypeError for bool, as NumPy.
inline constexpr ComposedUnary positive{internal::math::positive};
/// |x|; the smallest signed integer stays itself. Grad: g sign(x), 0 at 0.
inline constexpr UnaryFunction abs{abs_p};
/// -1, 0 or 1; NaN for NaN. Throws DtypeError for bool. Grad: 0.
inline constexpr UnaryFunction sign{sign_p};
/// The largest integer that is not above x, as a floating value; integers stay as they are. Grad:
/// 0.
inline constexpr UnaryFunction floor{floor_p, true};
/// The smallest integer that is not below x, as a floating value; integers stay as they are. Grad:
/// 0.
inline constexpr UnaryFunction ceil{ceil_p, true};
/// The nearest multiple of 10^-decimals, halves to the even one, as a floating value; integers stay
/// as they are, but for negative decimals. As in NumPy it is x times 10^decimals (or divided by
/// 10^-decimals), rounded, and taken back, so that the last bits of a result with decimals may
/// differ from the decimal number nearest to it. Grad: 0.
struct RoundFunction {
  /// `x` rounded to `decimals` places behind the point; negative ones round to tens, hundreds and
  /// so on.
  Array operator()(const Array& x, int64_t decimals = 0, Loc loc = Loc::current()) const;
};
/// The function of that type: round(x), round(x, 2).
inline constexpr RoundFunction round{};
/// The integer part, as a floating value; integers stay as they are. Grad: 0.
inline constexpr UnaryFunction trunc{trunc_p, true};
/// x * x, in the dtype of x. Grad: 2 g x.
inline constexpr ComposedUnary square{internal::math::square};
/// 1 / x; integers and bool are converted to f32. Grad: -g y^2.
inline constexpr ComposedUnary reciprocal{internal::math::reciprocal};
/// sin(pi x) / (pi x), 1 at 0, with derivatives of every order there.
inline constexpr ComposedUnary sinc{internal::math::sinc};
/// Degrees as radians. Grad: g pi / 180.
inline constexpr ComposedUnary deg2rad{internal::math::deg2rad};
/// Radians as degrees. Grad: g 180 / pi.
inline constexpr ComposedUnary rad2deg{internal::math::rad2deg};

/// What nan_to_num() puts in. An infinity without a value of its own becomes the largest finite
/// number with its sign.
struct NanToNumOptions {
  double nan = 0;                  ///< for NaN
  std::optional<double> posinf{};  ///< for infinity
  std::optional<double> neginf{};  ///< for -infinity
};
/// `x` with finite numbers in the place of NaN and infinities; integers stay as they are. Grad: g
/// where x is finite.
inline constexpr struct NanToNumFunction {
  Array operator()(const Array& x, const NanToNumOptions& options = {},
                   Loc loc = Loc::current()) const;
} nan_to_num{};

}  // namespace spruce
