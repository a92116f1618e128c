// SPDX-License-Identifier: Apache-2.0
// The operators of Array.
#include "spruce/core/array.h"
#include "spruce/core/ops/math.h"

namespace spruce {

Array operator+(Array a, Array b) {
  return internal::promoted_reusing(add_p, std::move(a), std::move(b));
}
Array operator-(Array a, Array b) {
  return internal::promoted_reusing(sub_p, std::move(a), std::move(b));
}
Array operator*(Array a, Array b) {
  return internal::promoted_reusing(mul_p, std::move(a), std::move(b));
}
Array operator/(Array a, Array b) {
  if (a.dtype() != b.dtype() || !is_floating(a.dtype()))
    return internal::promoted_floating(div_p, a, b);
  return internal::promoted_reusing(div_p, std::move(a), std::move(b));
}
Array operator%(const Array& a, const Array& b) { return internal::math::remainder(a, b); }
Array operator-(const Array& a) { return negative(a, Loc::none()); }
Array operator+(const Array& a) { return positive(a, Loc::none()); }
Array operator&(const Array& a, const Array& b) { return internal::promoted(and_p, a, b); }
Array operator|(const Array& a, const Array& b) { return internal::promoted(or_p, a, b); }
Array operator^(const Array& a, const Array& b) { return internal::promoted(xor_p, a, b); }
Array operator~(const Array& a) { return bitwise_not(a, Loc::none()); }
Array operator!(const Array& a) { return internal::math::logical_not(a); }
Array operator<<(const Array& a, const Array& b) { return internal::promoted(shift_left_p, a, b); }
Array operator>>(const Array& a, const Array& b) { return internal::math::right_shift(a, b); }
Array operator<(const Array& a, const Array& b) { return internal::promoted(lt_p, a, b); }
Array operator<=(const Array& a, const Array& b) { return internal::promoted(le_p, a, b); }
Array operator>(const Array& a, const Array& b) { return internal::promoted(gt_p, a, b); }
Array operator>=(const Array& a, const Array& b) { return internal::promoted(ge_p, a, b); }
Array operator==(const Array& a, const Array& b) { return internal::promoted(eq_p, a, b); }
Array operator!=(const Array& a, const Array& b) { return internal::promoted(ne_p, a, b); }

Array& Array::operator+=(const Array& o) { return *this = *this + o; }
Array& Array::operator-=(const Array& o) { return *this = *this - o; }
Array& Array::operator*=(const Array& o) { return *this = *this * o; }
Array& Array::operator/=(const Array& o) { return *this = *this / o; }

}  // namespace spruce
