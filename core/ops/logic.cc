// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/logic.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitive.h"

namespace spruce::internal::math {

Array truth(const Array& x) { return is_bool(x.dtype()) ? x : x != Array(false); }

Array logical_and(const Array& a, const Array& b) {
  const OpScope at("logical_and");
  internal::require_defined("logical_and", "a", a, "b", b);
  return bind1(and_p, {truth(a), truth(b)});
}
Array logical_or(const Array& a, const Array& b) {
  const OpScope at("logical_or");
  internal::require_defined("logical_or", "a", a, "b", b);
  return bind1(or_p, {truth(a), truth(b)});
}
Array logical_xor(const Array& a, const Array& b) {
  const OpScope at("logical_xor");
  internal::require_defined("logical_xor", "a", a, "b", b);
  return bind1(xor_p, {truth(a), truth(b)});
}
Array logical_not(const Array& x) {
  const OpScope at("logical_not");
  return bind1(not_p, {truth(x)});
}

Array right_shift(const Array& a, const Array& b) {
  const OpScope at("right_shift");
  internal::require_defined("right_shift", "a", a, "b", b);
  const Dtype dtype = promote(a.dtype(), a.weak(), b.dtype(), b.weak());
  return promoted(is_unsigned_integer(dtype) ? shift_right_logical_p : shift_right_arithmetic_p, a,
                  b);
}

}  // namespace spruce::internal::math
