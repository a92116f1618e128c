// SPDX-License-Identifier: Apache-2.0
// The functions of core/math as types, with their references: for math_test.cc and for
// tools/measure_ulp.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/cpu/targets.h"
#include "spruce/core/math/math.h"

namespace spruce::math_ops {

namespace math = spruce::math;

/// The distance of `got` from `want` in units of the last place of T at `want`; 0 where `got` is
/// `want` rounded to T, infinite where one alone is NaN or the sign of a zero is wrong.
template <class T, class Wide>
double ulp_error(T got, Wide want) {
  using Limits = std::numeric_limits<T>;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const T rounded = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kNever;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : kNever;
  if (std::isinf(want)) return kNever;
  const Wide overflow = std::ldexp(Wide(1), Limits::max_exponent);
  const Wide value = std::isinf(got) ? std::copysign(overflow, Wide(got)) : Wide(got);
  const int exponent = want == 0 ? Limits::min_exponent : std::ilogb(want) + 1;
  const Wide unit = std::ldexp(Wide(1), std::max(exponent, Limits::min_exponent) - Limits::digits);
  return static_cast<double>(std::fabs(value - want) / unit);
}

/// psi(x) near its positive zero r, relatively exact: psi(x) - psi(r), where x and r enter by their
/// distance d alone. The terms are
/// those of `digamma` below, at 200.
template <class W>
W digamma_near_zero(W d, W r) {
  W sum = 0;
  for (int k = 0; k < 200; ++k) sum += 1 / ((r + d + k) * (r + k));
  const W x = r + d + 200;
  const W y = r + 200;
  const W square = (x + y) / (x * x * y * y);
  const W fourth = square * (1 / (x * x) + 1 / (y * y));
  const W sixth = fourth / (x * x) + square / (y * y * y * y);
  return d * (sum + 1 / (2 * x * y) + square / 12 - fourth / 120 + sixth / 252) + std::log1p(d / y);
}

/// psi by its recurrences and its asymptotic series at 30.
template <class W>
W digamma(W x) {
  if (x > 1 && x < 2) {
    const W distance = (x - W(0x1.762d86356be3fp0)) - W(0x1.b86a722197829p-54);
    return digamma_near_zero(distance, W(0x1.762d86356be3fp0) + W(0x1.b86a722197829p-54));
  }
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<W>::quiet_NaN();
  if (x == 0) return std::copysign(std::numeric_limits<W>::infinity(), -x);
  if (x < 0) {
    const W r = x - std::round(x);
    if (r == 0) return std::numeric_limits<W>::quiet_NaN();
    const W pi = std::acos(W(-1));
    return digamma(1 - x) - pi / std::tan(pi * r);
  }
  W sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  constexpr W kSeries[] = {W(1) / 12,  -W(1) / 120,     W(1) / 252, -W(1) / 240,
                           W(1) / 132, -W(691) / 32760, W(1) / 12};
  const W z = 1 / (x * x);
  W series = 0;
  for (int k = 6; k >= 0; --k) series = (series + kSeries[k]) * z;
  return sum + std::log(x) - 1 / (2 * x) - series;
}

/// The root of erf(y) = x by bisection to a few digits and Halley's steps.
template <class W>
W erf_inv(W x) {
  const W a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * std::numeric_limits<W>::infinity() : std::nan("");
  const W half_root_pi = std::sqrt(std::acos(W(-1))) / 2;
  if (a < W(1e-10)) return x * half_root_pi;
  W low = 0;
  W high = 7;
  for (int step = 0; step < 12; ++step) {
    const W middle = (low + high) / 2;
    (std::erfc(middle) < 1 - a ? high : low) = middle;
  }
  W y = (low + high) / 2;
  for (int step = 0; step < 4; ++step) {
    const W excess = a > W(0.5) ? (1 - a) - std::erfc(y) : std::erf(y) - a;
    const W newton = excess * half_root_pi * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

template <class W>
W softplus(W x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class W>
W logistic(W x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

#define SPRUCE_UNARY(function, reference)           \
  struct function##_op {                            \
    static constexpr const char* kName = #function; \
    static constexpr bool kBinary = false;          \
    template <class I, class T>                     \
    static SPRUCE_INLINE T call(T x, T) {           \
      return math::function<I>(x);                  \
    }                                               \
    template <class W>                              \
    static W exact(W x, W) {                        \
      return reference;                             \
    }                                               \
  }
#define SPRUCE_BINARY(function)                     \
  struct function##_op {                            \
    static constexpr const char* kName = #function; \
    static constexpr bool kBinary = true;           \
    template <class I, class T>                     \
    static SPRUCE_INLINE T call(T x, T y) {         \
      return math::function<I>(x, y);               \
    }                                               \
    template <class W>                              \
    static W exact(W x, W y) {                      \
      return std::function(x, y);                   \
    }                                               \
  }

SPRUCE_UNARY(exp, std::exp(x));
SPRUCE_UNARY(exp2, std::exp2(x));
SPRUCE_UNARY(expm1, std::expm1(x));
SPRUCE_UNARY(log, std::log(x));
SPRUCE_UNARY(log2, std::log2(x));
SPRUCE_UNARY(log10, std::log10(x));
SPRUCE_UNARY(log1p, std::log1p(x));
SPRUCE_UNARY(sin, std::sin(x));
SPRUCE_UNARY(cos, std::cos(x));
SPRUCE_UNARY(tan, std::tan(x));
SPRUCE_UNARY(asin, std::asin(x));
SPRUCE_UNARY(acos, std::acos(x));
SPRUCE_UNARY(atan, std::atan(x));
SPRUCE_UNARY(sinh, std::sinh(x));
SPRUCE_UNARY(cosh, std::cosh(x));
SPRUCE_UNARY(tanh, std::tanh(x));
SPRUCE_UNARY(asinh, std::asinh(x));
SPRUCE_UNARY(acosh, std::acosh(x));
SPRUCE_UNARY(atanh, std::atanh(x));
SPRUCE_UNARY(sqrt, std::sqrt(x));
SPRUCE_UNARY(rsqrt, 1 / std::sqrt(x));
SPRUCE_UNARY(cbrt, std::cbrt(x));
SPRUCE_UNARY(erf, std::erf(x));
SPRUCE_UNARY(erfc, std::erfc(x));
SPRUCE_UNARY(erf_inv, math_ops::erf_inv(x));
SPRUCE_UNARY(logistic, math_ops::logistic(x));
SPRUCE_UNARY(softplus, math_ops::softplus(x));
SPRUCE_UNARY(log_sigmoid, -math_ops::softplus(-x));
SPRUCE_UNARY(lgamma, std::lgamma(x));
SPRUCE_UNARY(digamma, math_ops::digamma(x));
SPRUCE_BINARY(atan2);
SPRUCE_BINARY(pow);
SPRUCE_BINARY(hypot);

#undef SPRUCE_UNARY
#undef SPRUCE_BINARY

/// A list of types, to be passed as a value.
template <class... Ops>
struct List {};

using UnaryOps = List<exp_op, exp2_op, expm1_op, log_op, log2_op, log10_op, log1p_op, sin_op,
                      cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op, cosh_op, tanh_op,
                      asinh_op, acosh_op, atanh_op, sqrt_op, rsqrt_op, cbrt_op, erf_op, erfc_op,
                      erf_inv_op, logistic_op, softplus_op, log_sigmoid_op, lgamma_op, digamma_op>;
using BinaryOps = List<atan2_op, pow_op, hypot_op>;

/// The two forms that kernels are compiled in.
template <class Op, class T>
void without_fma(const T* x, const T* y, T* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = Op::template call<math::Isa<false>>(x[i], y[i]);
}
template <class Op, class T>
SPRUCE_TARGET_V3 void with_fma(const T* x, const T* y, T* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = Op::template call<math::Isa<true>>(x[i], y[i]);
}

inline bool processor_has_fma() {
#if SPRUCE_HAS_X86_TARGETS
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

}  // namespace spruce::math_ops
