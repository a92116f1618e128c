// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/unary.h"

#include <cmath>
#include <numbers>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace internal::math {

Array positive(const Array& x) {
  const OpScope at("positive");
  if (is_bool(x.dtype())) {
    throw DtypeError("positive: takes numbers, not bool, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  return x;
}

Array square(const Array& x) {
  const OpScope at("square");
  return bind1(integer_pow_p, {x}, Params::make(IntegerPowParams{2}));
}

Array reciprocal(const Array& x) {
  const OpScope at("reciprocal");
  return bind1(integer_pow_p, {floating("reciprocal", x)}, Params::make(IntegerPowParams{-1}));
}

Array sinc(const Array& x) {
  const OpScope at("sinc");
  const Array y = floating("sinc", x) * std::numbers::pi;
  const Array small = abs(y) < 0.5;
  const Array near = where(small, y, 0.0), z = near * near;  // far out the series is infinite
  // The series sum of (-1)^k y^2k / (2k+1)!; near 0 all of its derivatives are right, those of
  // sin(y) / y are not.
  constexpr int kLast = 8;
  Array series(1.0);
  for (int k = kLast; k > 0; --k) series = 1.0 - series * z * (1.0 / (2.0 * k * (2.0 * k + 1.0)));
  const Array safe = where(small, 1.0, y);
  return where(small, series, sin(safe) / safe);
}

Array deg2rad(const Array& x) {
  const OpScope at("deg2rad");
  return floating("deg2rad", x) * (std::numbers::pi / 180);
}
Array rad2deg(const Array& x) {
  const OpScope at("rad2deg");
  return floating("rad2deg", x) * (180 / std::numbers::pi);
}

}  // namespace internal::math

Array RoundFunction::operator()(const Array& x, int64_t decimals, Loc loc) const {
  const OpScope at("round", loc);
  const bool whole = !is_floating(x.dtype());
  if (whole && decimals >= 0) return x;
  if (decimals == 0) return bind1(round_p, {x});
  if (is_bool(x.dtype())) {
    throw DtypeError("round: takes numbers, not bool, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  const bool half = x.dtype() == float16 || x.dtype() == bfloat16;
  const Array wide = whole ? rules::convert(x, float64) : half ? rules::convert(x, float32) : x;
  const double factor = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const Array y = decimals > 0 ? bind1(round_p, {wide * factor}) / factor
                               : bind1(round_p, {wide / factor}) * factor;
  return rules::convert(y, x.dtype(), x.weak());
}

Array NanToNumFunction::operator()(const Array& x, const NanToNumOptions& options, Loc loc) const {
  const OpScope at("nan_to_num", loc);
  if (!is_floating(x.dtype())) return x;
  const double top = finfo(x.dtype()).max;
  Array y = where(isnan(x), options.nan, x);
  y = where(isposinf(x), options.posinf.value_or(top), y);
  return where(isneginf(x), options.neginf.value_or(-top), y);
}

}  // namespace spruce
