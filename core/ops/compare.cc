// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/compare.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitive.h"

namespace spruce {
namespace internal::math {

Array isnan(const Array& x) {
  const OpScope at("isnan");
  return bind1(ne_p, {x, x});
}

Array isinf(const Array& x) {
  const OpScope at("isinf");
  return is_floating(x.dtype()) ? abs(x) == HUGE_VAL : isnan(x);
}
Array isposinf(const Array& x) {
  const OpScope at("isposinf");
  return is_floating(x.dtype()) ? x == HUGE_VAL : isnan(x);
}
Array isneginf(const Array& x) {
  const OpScope at("isneginf");
  return is_floating(x.dtype()) ? x == -HUGE_VAL : isnan(x);
}

Array signbit(const Array& x) {
  const OpScope at("signbit");
  return is_floating(x.dtype()) ? copysign(1.0, x) < 0.0 : x < 0;
}

}  // namespace internal::math

namespace {

// Integers of 32 and 64 bits are not exact in f32.
bool is_wide(Dtype d) { return d == Dtype::kFloat64 || (is_integer(d) && size_of(d) >= 4); }

void require_known(const char* op, const Array& x) {
  (void)x.aval();
  if (x.impl()->concrete() != nullptr) return;
  throw TracerError(
      std::string(op) + ": " + x.impl()->describe() + " of type " + to_string(x.aval()) +
      " has no value while its function is traced; use isclose or equal, whose result is an array");
}

bool all_true(const Array& x) {
  for (const bool b : x.data<bool>()) {
    if (!b) return false;
  }
  return true;
}

}  // namespace

Array IscloseFunction::operator()(const Array& a, const Array& b, const CloseOptions& options,
                                  Loc loc) const {
  const OpScope at("isclose", loc);
  internal::require_defined("isclose", "a", a, "b", b);
  const Dtype common = promote(a.dtype(), a.weak(), b.dtype(), b.weak());
  const Dtype compute = is_wide(common) ? Dtype::kFloat64 : Dtype::kFloat32;
  const Array x = astype(internal::converted("isclose", a, common), compute);
  const Array y = astype(internal::converted("isclose", b, common), compute);
  (void)broadcast_shapes("isclose", x.shape(), y.shape());
  const Array near = logical_and(isfinite(y), abs(x - y) <= options.atol + options.rtol * abs(y));
  const Array close = logical_or(x == y, near);
  return options.equal_nan ? logical_or(close, logical_and(isnan(x), isnan(y))) : close;
}

bool AllcloseFunction::operator()(const Array& a, const Array& b, const CloseOptions& options,
                                  Loc loc) const {
  const OpScope at("allclose", loc);
  internal::require_defined("allclose", "a", a, "b", b);
  require_known("allclose", a);
  require_known("allclose", b);
  return all_true(isclose(a, b, options));
}

bool ArrayEqualFunction::operator()(const Array& a, const Array& b,
                                    const ArrayEqualOptions& options, Loc loc) const {
  const OpScope at("array_equal", loc);
  internal::require_defined("array_equal", "a", a, "b", b);
  require_known("array_equal", a);
  require_known("array_equal", b);
  if (!(a.shape() == b.shape())) return false;
  const Array same = a == b;
  return all_true(options.equal_nan ? logical_or(same, logical_and(isnan(a), isnan(b))) : same);
}

}  // namespace spruce
