// SPDX-License-Identifier: Apache-2.0
// The operators of Array.
#include "spruce/core/array.h"
#include "spruce/core/ops/math.h"

namespace spruce {
namespace {

// Operands live as long as the expression that they stand in; their arrays must not, for
// std::move(x).at(x > 1).set(0) is to find x in one place.
Array with_promotion(const Primitive& p, Operand& a, Operand& b) {
  const LocScope at(b.loc);
  const Array x = std::move(a.array), y = std::move(b.array);
  return internal::promoted(p, x, y);
}

Array arithmetic(const Primitive& p, Operand& a, Operand& b) {
  const LocScope at(b.loc);
  return internal::promoted_reusing(p, std::move(a.array), std::move(b.array));
}

}  // namespace

Array operator+(Operand a, Operand b) { return arithmetic(add_p, a, b); }
Array operator-(Operand a, Operand b) { return arithmetic(sub_p, a, b); }
Array operator*(Operand a, Operand b) { return arithmetic(mul_p, a, b); }
Array operator/(Operand a, Operand b) {
  const LocScope at(b.loc);
  Array x = std::move(a.array), y = std::move(b.array);
  if (x.dtype() != y.dtype() || !is_floating(x.dtype()))
    return internal::promoted_floating(div_p, x, y);
  return internal::promoted_reusing(div_p, std::move(x), std::move(y));
}
Array operator%(Operand a, Operand b) {
  const LocScope at(b.loc);
  const Array x = std::move(a.array), y = std::move(b.array);
  return internal::math::remainder(x, y);
}
Array operator-(Operand a) { return negative(std::move(a.array), a.loc); }
Array operator+(Operand a) { return positive(std::move(a.array), a.loc); }
Array operator&(Operand a, Operand b) { return with_promotion(and_p, a, b); }
Array operator|(Operand a, Operand b) { return with_promotion(or_p, a, b); }
Array operator^(Operand a, Operand b) { return with_promotion(xor_p, a, b); }
Array operator~(Operand a) { return bitwise_not(std::move(a.array), a.loc); }
Array operator!(const Array& a) { return internal::math::logical_not(a); }
Array operator<<(Operand a, Operand b) { return with_promotion(shift_left_p, a, b); }
Array operator>>(Operand a, Operand b) {
  const LocScope at(b.loc);
  const Array x = std::move(a.array), y = std::move(b.array);
  return internal::math::right_shift(x, y);
}
Array operator<(Operand a, Operand b) { return with_promotion(lt_p, a, b); }
Array operator<=(Operand a, Operand b) { return with_promotion(le_p, a, b); }
Array operator>(Operand a, Operand b) { return with_promotion(gt_p, a, b); }
Array operator>=(Operand a, Operand b) { return with_promotion(ge_p, a, b); }
Array operator==(Operand a, Operand b) { return with_promotion(eq_p, a, b); }
Array operator!=(Operand a, Operand b) { return with_promotion(ne_p, a, b); }

Array& Array::operator+=(Operand o) & { return *this = Operand(*this, o.loc) + std::move(o); }
Array& Array::operator-=(Operand o) & { return *this = Operand(*this, o.loc) - std::move(o); }
Array& Array::operator*=(Operand o) & { return *this = Operand(*this, o.loc) * std::move(o); }
Array& Array::operator/=(Operand o) & { return *this = Operand(*this, o.loc) / std::move(o); }

}  // namespace spruce
