// SPDX-License-Identifier: Apache-2.0
// How a gamma variate x moves with its parameter a while its quantile stays: -(dP/da) / (dP/dx) of
// the regularised incomplete gamma function P(a, x), from the series of P or the continued
// fraction of 1 - P and their derivatives term by term. Always computed in f64.
#include <cmath>
#include <limits>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

constexpr int kMost = 20000;  // steps; up to kLarge a few thousand are needed
constexpr double kLarge = 1e5;
constexpr double kSmallStep = 1e-17;

// P = x^a e^-x / Gamma(a + 1) * sum of c_n, with c_0 = 1 and c_n = c_(n-1) x / (a + n).
double by_series(double a, double x) {
  double c = 1, slope = 0, sum = 1, sum_slope = 0;
  for (int n = 1; n < kMost; ++n) {
    const double step = x / (a + n);
    slope = slope * step - c * step / (a + n);
    c *= step;
    sum += c;
    sum_slope += slope;
    if (c < kSmallStep * sum && -slope < kSmallStep * -sum_slope) break;
  }
  const double log_slope = std::log(x) - math::digamma<cpu::internal::BaseIsa>(a + 1);
  return -x / a * (sum * log_slope + sum_slope);
}

// 1 - P = x^a e^-x / Gamma(a) * h, where h = 1 / (b_0 + a_1 / (b_1 + a_2 / (b_2 + ...))) with
// a_n = n (a - n) and b_n = x + 2 n + 1 - a; numerators p and denominators q of its convergents.
double by_fraction(double a, double x) {
  double p0 = 0, q0 = 1, p1 = 1, q1 = x + 1 - a;
  double dp0 = 0, dq0 = 0, dp1 = 0, dq1 = -1;
  double h = p1 / q1, dh = -h * dq1 / q1;
  for (int n = 1; n < kMost; ++n) {
    const double an = n * (a - n), bn = x + 2 * n + 1 - a;
    const double p = bn * p1 + an * p0, q = bn * q1 + an * q0;
    const double dp = bn * dp1 - p1 + an * dp0 + n * p0, dq = bn * dq1 - q1 + an * dq0 + n * q0;
    const double scale = 1 / q;
    p0 = p1 * scale, q0 = q1 * scale, dp0 = dp1 * scale, dq0 = dq1 * scale;
    p1 = p * scale, q1 = 1, dp1 = dp * scale, dq1 = dq * scale;
    const double next = p1, dnext = dp1 - p1 * dq1;
    const bool done = std::abs(next - h) <= 1e-15 * std::abs(next) &&
                      std::abs(dnext - dh) <= 1e-15 * std::abs(dnext);
    h = next;
    dh = dnext;
    if (done) break;
  }
  return x * (h * (std::log(x) - math::digamma<cpu::internal::BaseIsa>(a)) + dh);
}

// From x = a + z r + (z^2 - 1) / 3 + (z^3 - 7 z) / (36 r) with r = sqrt(a) and the normal quantile
// z (Cornish and Fisher 1938), for large a.
double by_expansion(double a, double x) {
  const double r = std::sqrt(a);
  double z = (x - a) / r;
  for (int i = 0; i < 3; ++i) {
    z = (x - a) / r - (z * z - 1) / (3 * r) - (z * z * z - 7 * z) / (36 * a);
  }
  return 1 + z / (2 * r) - (z * z * z - 7 * z) / (72 * a * r);
}

double slope(double a, double x) {
  if (!(a > 0) || std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x <= 0) return 0;
  if (a > kLarge) return by_expansion(a, x);
  return x <= 1 || x <= a ? by_series(a, x) : by_fraction(a, x);
}

struct GammaGrad {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return static_cast<T>(slope(static_cast<double>(a), static_cast<double>(x)));
  }
};

Aval random_gamma_grad_shape(const ShapeArgs& a) {
  if (a.in.size() != 2) throw GraphError(std::string(a.op) + ": takes two inputs");
  return rules::broadcast_floating(a);
}

}  // namespace

extern constinit const Primitive random_gamma_grad_p = {
    .name = "random_gamma_grad",
    .shape = random_gamma_grad_shape,
    .cpu = cpu::binary_kernel<GammaGrad, cpu::Types::kFloating>,
    .batch = rules::batch_elementwise,
};

Array random_gamma_grad(const Array& a, const Array& x) {
  return bind1(random_gamma_grad_p, {a, x});
}

}  // namespace spruce
