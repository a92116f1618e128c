// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/binary.h"

#include <cmath>
#include <numbers>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace internal::math {
namespace {

struct Pair {
  Array a, b;
};

// Both in their common dtype. What follows will compute with them under other names, so `rule`
// checks them here under that of the function.
Pair promoted_pair(const char* op, const Array& a, const Array& b, Aval (*rule)(const ShapeArgs&)) {
  const Dtype dtype = promote(a.dtype(), a.weak(), b.dtype(), b.weak());
  Pair p{converted(op, a, dtype), converted(op, b, dtype)};
  const Aval* types[] = {&p.a.aval(), &p.b.aval()};
  const Params none;
  (void)rule({op, types, none});
  return p;
}

// True where the remainder toward zero has to be shifted by the divisor to get the divisor's sign.
Array sign_differs(const Array& remainder, const Array& divisor) {
  const OpScope at("sign_differs");
  const Array wrong = (remainder < 0) != (divisor < 0);
  return logical_and(wrong, logical_and(remainder != 0, divisor != 0));
}

// The exponent, if it is so small and whole that multiplying is exact enough.
bool small_exponent(const Array& y, int64_t* n) {
  if (!is_weak_constant(y) || !is_floating(y.dtype())) return false;
  const double value = converted("power", y, Dtype::kFloat64).item<double>();
  if (value != std::nearbyint(value) || std::abs(value) > 4) return false;
  *n = static_cast<int64_t>(value);
  return true;
}

}  // namespace

Array divide(const Array& a, const Array& b) {
  const OpScope at("divide");
  internal::require_defined("divide", "a", a, "b", b);
  return promoted_floating(div_p, a, b);
}

Array floor_divide(const Array& a, const Array& b) {
  const OpScope at("floor_divide");
  internal::require_defined("floor_divide", "a", a, "b", b);
  const auto [x, y] = promoted_pair("floor_divide", a, b, rules::broadcast_numeric);
  const Array r = bind1(rem_p, {x, y});
  if (!is_floating(x.dtype())) {
    const Array q = bind1(div_p, {x, y});
    return is_unsigned_integer(x.dtype()) ? q : where(sign_differs(r, y), q - 1, q);
  }
  const Array q = (x - r) / y;
  // x - r is a multiple of y; rounding only repairs the division.
  return where(y == 0, floor(x / y), round(where(sign_differs(r, y), q - 1, q)));
}

Array remainder(const Array& a, const Array& b) {
  const OpScope at("remainder");
  internal::require_defined("remainder", "a", a, "b", b);
  const auto [x, y] = promoted_pair("remainder", a, b, rules::broadcast_numeric);
  const Array r = bind1(rem_p, {x, y});
  return is_unsigned_integer(x.dtype()) ? r : where(sign_differs(r, y), r + y, r);
}

Array power(const Array& x, const Array& y) {
  const OpScope at("power");
  internal::require_defined("power", "x", x, "y", y);
  int64_t n = 0;
  if (is_weak_constant(y) && is_integer(y.dtype())) {
    return bind1(integer_pow_p, {x}, Params::make(IntegerPowParams{y.item<int64_t>()}));
  }
  if (small_exponent(y, &n)) {
    const Dtype dtype = promote(x.dtype(), x.weak(), y.dtype(), true);
    return bind1(integer_pow_p, {converted("power", x, dtype)}, Params::make(IntegerPowParams{n}));
  }
  return promoted(pow_p, x, y);
}

Array float_power(const Array& x, const Array& y) {
  const OpScope at("float_power");
  internal::require_defined("float_power", "x", x, "y", y);
  return power(floating("float_power", x), floating("float_power", y));
}

Array fmax(const Array& a, const Array& b) {
  const OpScope at("fmax");
  internal::require_defined("fmax", "a", a, "b", b);
  const auto [x, y] = promoted_pair("fmax", a, b, rules::broadcast);
  return maximum(where(isnan(x), y, x), where(isnan(y), x, y));
}
Array fmin(const Array& a, const Array& b) {
  const OpScope at("fmin");
  internal::require_defined("fmin", "a", a, "b", b);
  const auto [x, y] = promoted_pair("fmin", a, b, rules::broadcast);
  return minimum(where(isnan(x), y, x), where(isnan(y), x, y));
}

Array heaviside(const Array& x, const Array& at_zero) {
  const OpScope at("heaviside");
  internal::require_defined("heaviside", "x", x, "at_zero", at_zero);
  const auto [a, h] = promoted_pair("heaviside", floating("heaviside", x),
                                    floating("heaviside", at_zero), rules::broadcast_floating);
  return where(isnan(a), a, where(a < 0, 0.0, where(a > 0, 1.0, h)));
}

Array logaddexp2(const Array& a, const Array& b) {
  const OpScope at("logaddexp2");
  internal::require_defined("logaddexp2", "a", a, "b", b);
  const Array x = floating("logaddexp2", a), y = floating("logaddexp2", b);
  return logaddexp(x * std::numbers::ln2, y * std::numbers::ln2) * std::numbers::log2e;
}

Array lcm(const Array& a, const Array& b) {
  const OpScope at("lcm");
  internal::require_defined("lcm", "a", a, "b", b);
  const auto [x, y] = promoted_pair("lcm", a, b, rules::broadcast_integer);
  const Array divisor = gcd(x, y);
  return abs(bind1(div_p, {x, where(divisor == 0, 1, divisor)}) * y);
}

}  // namespace internal::math

Array WhereFunction::operator()(const Array& condition, const Array& a, const Array& b,
                                Loc loc) const {
  const OpScope at("where", loc);
  internal::require_defined("where", "condition", condition, "a", a, "b", b);
  const Aval &x = a.aval(), &y = b.aval();
  const Dtype dtype = promote(x.dtype, x.weak, y.dtype, y.weak);
  return bind1(select_p, {internal::math::truth(condition), internal::converted("where", a, dtype),
                          internal::converted("where", b, dtype)});
}

Array ClipFunction::operator()(const Array& x, const Array& low, const Array& high, Loc loc) const {
  const OpScope at("clip", loc);
  internal::require_defined("clip", "x", x, "low", low, "high", high);
  Aval type = x.aval();
  for (const Array* bound : {&low, &high}) {
    type.dtype = promote(type.dtype, type.weak, bound->dtype(), bound->weak());
    type.weak = type.weak && bound->weak();
  }
  return bind1(clamp_p, {internal::converted("clip", x, type.dtype),
                         internal::converted("clip", low, type.dtype),
                         internal::converted("clip", high, type.dtype)});
}

}  // namespace spruce
