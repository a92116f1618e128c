// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/integers.h"

#include <bit>

namespace spruce::cpu::x64 {
namespace {

// a / d rounded toward zero by a product: Granlund and Montgomery, "Division by invariant integers
// using multiplication" (1994), figure 5.2. d is not 0.
V quotient_by(V a, int32_t d) {
  Builder& b = *a.b;
  const uint64_t size = static_cast<uint64_t>(d < 0 ? -static_cast<int64_t>(d) : d);
  const int bits = std::max(1, static_cast<int>(std::bit_width(size - 1)));
  const uint64_t factor = 1 + (uint64_t{1} << (31 + bits)) / size;
  const V high = make(Op::kIntMulHigh, a, b.bits(static_cast<uint32_t>(factor)));
  const V q = int_sub(shift_arithmetic(int_add(a, high), bits - 1), shift_arithmetic(a, 31));
  return d < 0 ? int_sub(b.bits(0), q) : q;
}

// Divisors that the instruction cannot take, 0 and -1, are replaced by 1; what they give is
// selected afterwards.
V signed_division(V a, V b, bool remainder) {
  Builder& to = *a.b;
  const V none = to.bits(0), all = to.bits(0xffffffff), one = to.bits(1);
  const M zero = int_compare(b, none, kEq), negated = int_compare(b, all, kEq);
  const V divisor = select(zero, one, select(negated, one, b));
  const V q = make(Op::kIntQuotient, a, divisor);
  if (remainder) return select(zero, a, int_sub(a, make(Op::kIntMul, q, divisor)));
  return select(zero, all, select(negated, int_sub(none, q), q));
}

// The quotient of half of a, twice, is that of a or 1 less; of divisors above all signed numbers it
// is 0 or 1.
V unsigned_division(V a, V b, bool remainder) {
  Builder& to = *a.b;
  const V none = to.bits(0), all = to.bits(0xffffffff), one = to.bits(1);
  const M zero = int_compare(b, none, kEq);
  const V divisor = select(zero, one, b), sign = to.sign_bit();
  const V halves = shift_left(make(Op::kIntQuotient, shift_right(a, 1), divisor), 1);
  const V q = select(int_compare(divisor, none, kLt), none, halves);
  const V left = int_sub(a, make(Op::kIntMul, q, divisor));
  const M more = int_compare(left ^ sign, divisor ^ sign, kGe);
  if (remainder) return select(zero, a, select(more, int_sub(left, divisor), left));
  return select(zero, all, int_add(q, select(more, one, none)));
}

}  // namespace

V division(Dtype dtype, V a, V b, bool remainder) {
  if (!is_signed_integer(dtype)) return unsigned_division(a, b, remainder);
  const std::optional<uint32_t> by = a.b->known(b);
  if (!by || *by == 0) return signed_division(a, b, remainder);
  const V q = quotient_by(a, static_cast<int32_t>(*by));
  return remainder ? int_sub(a, make(Op::kIntMul, q, b)) : q;
}

V from_unsigned(V x) {
  Builder& b = *x.b;
  const V high = from_int(shift_right(x, 16)), low = from_int(x & b.bits(0xffff));
  return fma(high, b.c(65536), low);
}

V saturated(V x) {
  Builder& b = *x.b;
  const V inside = make(Op::kTruncate, x);
  const V capped = select(compare(x, b.c(0x1.fffffep30), kGt), b.bits(0x7fffffff), inside);
  return select(is_nan(x), b.bits(0), capped);
}

V saturated_to_byte(Dtype byte, V x) {
  Builder& b = *x.b;
  const bool has_sign = byte == Dtype::kInt8;
  const V low = b.c(has_sign ? -128 : 0), high = b.c(has_sign ? 127 : 255);
  const V inside = make(Op::kTruncate, make(Op::kMin, make(Op::kMax, x, low), high));
  return select(is_nan(x), b.bits(0), inside);
}

V wrapped_to_byte(Dtype byte, V x) {
  return byte == Dtype::kUint8 ? x & x.b->bits(0xff) : shift_arithmetic(shift_left(x, 24), 24);
}

}  // namespace spruce::cpu::x64
