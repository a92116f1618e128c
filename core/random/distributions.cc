// SPDX-License-Identifier: Apache-2.0
// Distributions by the inverse of their distribution function, from uniform numbers in the range
// that JAX takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/random.h"

namespace spruce::random {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Array uniform_in(const char* op, const Key& key, const Shape& shape, double low, double high,
                 Dtype dtype) {
  internal::one_key(op, key);
  check_shape(op, shape);
  internal::require_floating(op, dtype);
  return uniform(key, shape, {.low = low, .high = high, .dtype = dtype});
}

/// (1 - distribution function) / density of the normal distribution at x >= 4, by the continued
/// fraction 1 / (x + 1 / (x + 2 / (x + ..))).
template <class T>
T mills_ratio(const T& x) {
  T below = x;
  for (int i = 14; i > 0; --i) below = x + i / below;
  return 1 / below;
}

/// The normal distribution given that the number is in (lower, upper), 4 <= lower, less `lower`.
/// There the distribution function rounds to 1, so this is solved for the logarithm of its
/// complement, -d (d + 2 lower) / 2 + log(mills(lower + d) / mills(lower)) = log w, w in (0, 1).
Array beyond(const Key& key, double lower, double upper, const Shape& shape, Dtype dtype) {
  const double ratio = mills_ratio(lower);
  const double last = std::isinf(upper) ? 0
                                        : std::exp((lower - upper) * (lower + upper) / 2) *
                                              mills_ratio(upper) / ratio;
  const Array log_w =
      log(uniform_in("truncated_normal", key, shape, std::max(last, finfo(dtype).tiny), 1, dtype));
  Array d = -2 * log_w / (lower + sqrt(lower * lower - 2 * log_w));
  for (int step = 0; step < 3; ++step) {
    const Array mills = mills_ratio(lower + d);
    d = d + mills * (log(mills / ratio) - d * (d + 2 * lower) / 2 - log_w);
  }
  return d;
}

/// Numbers in (-1, 1).
Array symmetric(const char* op, const Key& key, const Shape& shape, Dtype dtype) {
  internal::require_floating(op, dtype);
  return uniform_in(op, key, shape, finfo(dtype).eps / 2 - 1, 1, dtype);
}

/// Numbers in (0, 1).
Array positive(const char* op, const Key& key, const Shape& shape, Dtype dtype) {
  internal::require_floating(op, dtype);
  return uniform_in(op, key, shape, finfo(dtype).tiny, 1, dtype);
}

}  // namespace

Array NormalFunction::operator()(const Key& key, const Shape& shape, const FloatOptions& options,
                                 Loc loc) const {
  const OpScope at("normal", loc);
  return std::numbers::sqrt2 * erf_inv(symmetric("normal", key, shape, options.dtype));
}

Array TruncatedNormalFunction::operator()(const Key& key, double lower, double upper,
                                          const Shape& shape, const FloatOptions& options,
                                          Loc loc) const {
  const OpScope at("truncated_normal", loc);
  if (!(lower < upper)) {
    throw ValueError("truncated_normal: lower " + std::to_string(lower) + " must be below upper " +
                     std::to_string(upper));
  }
  // Rounding must not lead out of the open interval.
  const Array first = nextafter(astype(lower, options.dtype), kInf),
              last = nextafter(astype(upper, options.dtype), -kInf);
  if (lower >= 4 || upper <= -4) {
    internal::require_floating("truncated_normal", options.dtype);
    const double near = std::min(std::abs(lower), std::abs(upper)),
                 far = std::max(std::abs(lower), std::abs(upper));
    const Dtype wide = promote(options.dtype, Dtype::kFloat32);
    const Array x = near + beyond(key, near, far, shape, wide);
    return clip(astype(lower > 0 ? x : -x, options.dtype), first, last);
  }
  const double low = std::erf(lower / std::numbers::sqrt2),
               high = std::erf(upper / std::numbers::sqrt2);
  Array u = uniform_in("truncated_normal", key, shape, low, high, options.dtype);
  // At 1 and -1, which bounds far out round to, erf_inv is infinite.
  const double most = 1 - finfo(options.dtype).eps / 2;
  if (low < -most || high > most) u = clip(u, -most, most);
  return clip(std::numbers::sqrt2 * erf_inv(u), first, last);
}

Array ExponentialFunction::operator()(const Key& key, const Shape& shape,
                                      const FloatOptions& options, Loc loc) const {
  const OpScope at("exponential", loc);
  return -log1p(-uniform_in("exponential", key, shape, 0, 1, options.dtype));
}

Array GumbelFunction::operator()(const Key& key, const Shape& shape, const FloatOptions& options,
                                 Loc loc) const {
  const OpScope at("gumbel", loc);
  return -log(-log(positive("gumbel", key, shape, options.dtype)));
}

Array LaplaceFunction::operator()(const Key& key, const Shape& shape, const FloatOptions& options,
                                  Loc loc) const {
  const OpScope at("laplace", loc);
  const Array u = symmetric("laplace", key, shape, options.dtype);
  return sign(u) * log1p(-abs(u));
}

Array CauchyFunction::operator()(const Key& key, const Shape& shape, const FloatOptions& options,
                                 Loc loc) const {
  const OpScope at("cauchy", loc);
  internal::require_floating("cauchy", options.dtype);
  const Array u = uniform_in("cauchy", key, shape, finfo(options.dtype).eps, 1, options.dtype);
  return tan(std::numbers::pi * (u - 0.5));
}

Array LogisticFunction::operator()(const Key& key, const Shape& shape, const FloatOptions& options,
                                   Loc loc) const {
  const OpScope at("logistic", loc);
  const Array u = positive("logistic", key, shape, options.dtype);
  return log(u) - log1p(-u);
}

}  // namespace spruce::random
