// SPDX-License-Identifier: Apache-2.0
// Special functions for texts, by the polynomials of the CPU's.
#include <cstdio>
#include <iterator>
#include <type_traits>

#include "spruce/core/math/coefficients.h"
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {
namespace {

namespace table = spruce::math;

// A function that evaluates the polynomial with these coefficients.
template <class T, size_t kCount>
std::string polynomial(const char* name, const T (&coefficients)[kCount]) {
  const char* type = std::is_same_v<T, float> ? "f32" : "f64";
  std::string text =
      std::string("SP ") + type + " " + name + "(" + type + " x) {\n  " + type + " y = ";
  for (size_t i = kCount; i-- > 0;) {
    char number[48];
    std::snprintf(number, sizeof(number), std::is_same_v<T, float> ? "%af" : "%a",
                  static_cast<double>(coefficients[i]));
    if (i + 1 == kCount)
      text += std::string(number) + ";\n";
    else
      text += std::string("  y = fused_multiply_add(y, x, ") + number + ");\n";
  }
  return text + "  return y;\n}\n";
}

constexpr std::string_view kFunctions = R"cuda(
SP f32 erf_inv(f32 x) {
  const f32 w = -log((1.0f - x) * (1.0f + x));
  const bool central = w < 5.0f;
  const f32 t = central ? w - 2.5f : sqrt(w) - 3.0f;
  const f32 p = central ? erf_inv_central(t) : erf_inv_tail(t);
  return abs(x) == 1.0f ? x * infinity<f32>() : p * x;
}
SP f64 erf_inv(f64 x) {
  const f64 w = -log((1.0 - x) * (1.0 + x)), root = sqrt(w);
  const f64 p = w < 6.25   ? 1.65625 + erf_inv_double_central(w - 3.125)
                : w < 16.0 ? 3.09375 + erf_inv_double_middle(root - 3.25)
                           : 4.84375 + erf_inv_double_tail(root - 5.0);
  return abs(x) == 1.0 ? x * infinity<f64>() : p * x;
}
// x less its nearest integer, with the sign of x where that is 0.
SP f64 signed_fraction(f64 x) {
  const f64 a = abs(x) < 4503599627370496.0 ? abs(x) : 0.0;
  return copysign(1.0, x) * (a - rint(a));
}
SP f64 lgamma(f64 x) { return ::lgamma(x); }
// log |Gamma(x)| in double: near its zeros on the negative axis the terms cancel.
SP f32 lgamma(f32 single) {
  const f64 x = single, a = abs(x);
  const bool low = a < 4.0;
  const f64 z = low ? a + 4.0 : a;
  const f64 product = low ? a * (a + 1.0) * ((a + 2.0) * (a + 3.0)) : 1.0;
  const f64 inverse = 1.0 / z;
  const f64 series = lgamma_series(inverse * inverse) * inverse;
  const f64 stirling = fused_multiply_add(z - 0.5, log(z), 0x1.d67f1c864beb5p-1 + series - z);
  const f64 r = signed_fraction(a);
  const f64 sine = abs(r * sin_pi(r * r));
  const bool reflect = x < 0;
  const f64 rest = log(reflect ? 0x1.921fb54442d18p1 * product / (a * sine) : product);
  const f64 y = reflect ? rest - stirling : stirling - rest;
  const f64 finite = x == 1.0 || x == 2.0 ? 0.0 : y;
  return f32(a < infinity<f64>() ? finite : a);
}
SP f64 digamma(f64 x) {
  const bool reflect = x < 0.5;
  const f64 a = reflect ? 1.0 - x : x;
  const f64 inverse = 1.0 / a, square = inverse * inverse;
  const f64 far = log(a) - fused_multiply_add(digamma_series(square), square, 0.5 * inverse);
  const f64 b = a < 1.0 ? a + 1.0 : a > 2.0 ? a - 1.0 : a;
  const f64 distance = (b - 0x1.762d86356be3fp0) - 0x1.b86a722197829p-54;
  const f64 step = a < 1.0 ? -inverse : a > 2.0 ? 1.0 / b : 0.0;
  const f64 right = a < 3.0 ? distance * digamma_root(distance) + step : far;
  const f64 r = signed_fraction(x);
  const f64 cosine = (1.0 - 4.0 * r * r) * cos_pi(r * r);
  const f64 cotangent = 0x1.921fb54442d18p1 * cosine / (r * sin_pi(r * r));
  const f64 y = reflect ? right - cotangent : right;
  return x < 0 && r == 0 ? quiet_nan<f64>() : y;
}
SP f32 digamma(f32 x) { return f32(digamma(f64(x))); }

// The sum of (x + k)^-s over k >= 0 for x > 0 and s >= 2, by Euler and Maclaurin.
static __device__ f64 zeta(f64 s, f64 x) {
  const f64 bernoulli[] = {1.0 / 12,
                           -1.0 / 720,
                           1.0 / 30240,
                           -1.0 / 1209600,
                           1.0 / 47900160,
                           -691.0 / 1307674368000,
                           1.0 / 74724249600,
                           -3617.0 / 10670622842880000.0,
                           43867.0 / 5109094217170944000.0,
                           -174611.0 / 802857662698291200000.0};
  f64 sum = 0;
  for (; x < 12 + s; x += 1) sum += ::pow(x, -s);
  f64 tail = ::pow(x, 1 - s) / (s - 1) + 0.5 * ::pow(x, -s);
  f64 factor = s * ::pow(x, -s - 1);
  for (int k = 0; k < 10; ++k) {
    tail += bernoulli[k] * factor;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
  }
  return sum + tail;
}
// `scale` is (-1)^(n+1) n!, `cot` has the n + 2 coefficients of the n-th derivative of cot(pi x) as
// a polynomial in cot(pi x), less a factor of (-pi)^n.
template <int n> SP f64 polygamma(f64 x, f64 scale, const f64 (&cot)[n + 2]) {
  if constexpr (n == 0) {
    return digamma(x);
  } else {
    if (x > 0) return x == infinity<f64>() ? 0.0 : scale * zeta(n + 1, x);
    if (x != x) return x;
    if (x == floor(x))
      return n % 2 == 1 ? infinity<f64>()
             : x == 0   ? copysign(infinity<f64>(), -x)
                        : quiet_nan<f64>();
    const f64 c = 1 / ::tan(3.14159265358979323846 * (x - ::round(x)));
    f64 p = 0;
    for (int k = n + 1; k >= 0; --k) p = p * c + cot[k];
    const f64 sign = n % 2 == 0 ? 1 : -1;
    const f64 y = 1 - x;
    return sign * ((y == infinity<f64>() ? 0.0 : scale * zeta(n + 1, y)) -
                   ::pow(3.14159265358979323846, f64(n + 1)) * p);
  }
}

// The derivative of a gamma variate x by its parameter a: by the series of P(a, x), the continued
// fraction of 1 - P, or the expansion of Cornish and Fisher.
static __device__ f64 gamma_by_series(f64 a, f64 x) {
  f64 c = 1, slope = 0, sum = 1, sum_slope = 0;
  for (int n = 1; n < 20000; ++n) {
    const f64 step = x / (a + n);
    slope = slope * step - c * step / (a + n);
    c *= step;
    sum += c;
    sum_slope += slope;
    if (c < 1e-17 * sum && -slope < 1e-17 * -sum_slope) break;
  }
  return -x / a * (sum * (log(x) - digamma(a + 1)) + sum_slope);
}
static __device__ f64 gamma_by_fraction(f64 a, f64 x) {
  f64 p0 = 0, q0 = 1, p1 = 1, q1 = x + 1 - a;
  f64 dp0 = 0, dq0 = 0, dp1 = 0, dq1 = -1;
  f64 h = p1 / q1, dh = -h * dq1 / q1;
  for (int n = 1; n < 20000; ++n) {
    const f64 an = n * (a - n), bn = x + 2 * n + 1 - a;
    const f64 p = bn * p1 + an * p0, q = bn * q1 + an * q0;
    const f64 dp = bn * dp1 - p1 + an * dp0 + n * p0, dq = bn * dq1 - q1 + an * dq0 + n * q0;
    const f64 scale = 1 / q;
    p0 = p1 * scale, q0 = q1 * scale, dp0 = dp1 * scale, dq0 = dq1 * scale;
    p1 = p * scale, q1 = 1, dp1 = dp * scale, dq1 = dq * scale;
    const f64 next = p1, dnext = dp1 - p1 * dq1;
    const bool done =
        abs(next - h) <= 1e-15 * abs(next) && abs(dnext - dh) <= 1e-15 * abs(dnext);
    h = next;
    dh = dnext;
    if (done) break;
  }
  return x * (h * (log(x) - digamma(a)) + dh);
}
static __device__ f64 gamma_slope(f64 a, f64 x) {
  if (!(a > 0) || x != x) return quiet_nan<f64>();
  if (x <= 0) return 0;
  if (a > 1e5) {
    const f64 r = sqrt(a);
    f64 z = (x - a) / r;
    for (int i = 0; i < 3; ++i)
      z = (x - a) / r - (z * z - 1) / (3 * r) - (z * z * z - 7 * z) / (36 * a);
    return 1 + z / (2 * r) - (z * z * z - 7 * z) / (72 * a * r);
  }
  return x <= 1 || x <= a ? gamma_by_series(a, x) : gamma_by_fraction(a, x);
}
template <class T> SP T gamma_grad(T a, T x) { return T(gamma_slope(f64(a), f64(x))); }
}  // namespace sp
)cuda";

}  // namespace

const std::string& special_prelude() {
  static const auto& text = *new std::string(
      "namespace sp {\n" + polynomial("erf_inv_central", table::kErfInvCentral) +
      polynomial("erf_inv_tail", table::kErfInvTail) +
      polynomial("erf_inv_double_central", table::kErfInvDoubleCentral) +
      polynomial("erf_inv_double_middle", table::kErfInvDoubleMiddle) +
      polynomial("erf_inv_double_tail", table::kErfInvDoubleTail) +
      polynomial("lgamma_series", table::kLgamma) + polynomial("sin_pi", table::kSinPi) +
      polynomial("cos_pi", table::kCosPi) + polynomial("digamma_series", table::kDigamma) +
      polynomial("digamma_root", table::kDigammaRoot) + std::string(kFunctions));
  return text;
}

}  // namespace spruce::cuda
