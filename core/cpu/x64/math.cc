// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/math.h"

#include <limits>
#include <span>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/trig.h"

namespace spruce::cpu::x64 {
namespace {

template <class T>
V horner(V x, std::span<const T> table) {
  V y = x.b->c(static_cast<double>(table.back()));
  for (size_t i = table.size() - 1; i-- > 0;) y = fma(y, x, x.b->c(static_cast<double>(table[i])));
  return y;
}
V horner(V x, std::span<const float> table) { return horner<float>(x, table); }

struct Reduced {
  V remainder;
  V shifted;  // the exponent in its low bits
  V n;        // the exponent as a float
};

double magic(const Builder& b) {
  return b.wide() ? math::kRoundMagicDouble : static_cast<double>(math::kRoundMagic);
}
uint64_t magic_bits(const Builder& b) {
  return b.wide() ? math::to_bits(math::kRoundMagicDouble) : math::to_bits(math::kRoundMagic);
}

Reduced reduce_ln2(V x) {
  Builder& b = *x.b;
  const bool d = b.wide();
  const V shifted = fma(x, b.c(d ? 0x1.71547652b82fep0 : 0x1.715476p0), b.c(magic(b)));
  const V n = shifted - b.c(magic(b));
  V r = fma(n, b.c(d ? -0x1.62e42fefap-1 : -0x1.62e4p-1), x);
  r = fma(n, b.c(d ? -0x1.cf79abc9e3b39p-40 : -0x1.7f7d1cp-20), r);
  return {r, shifted, n};
}

V expm1_small(V r) {
  const V p = r.b->wide() ? horner<double>(r, math::kExpDouble) : horner<float>(r, math::kExp);
  return fma(r * r, p, r);
}

// 2^(k + offset) from the number whose low bits hold k.
V power_of_two(V shifted, int offset = 0) {
  Builder& b = *shifted.b;
  const uint64_t bias = b.wide() ? 1023 : 127;
  const uint64_t add = bias + static_cast<uint64_t>(int64_t{offset}) - magic_bits(b);
  return shift_left(int_add(shifted, b.bits(b.wide() ? add : add & 0xffffffffu)),
                    b.wide() ? 52 : 23);
}

// y 2^n, rounded once, from n as a float and in the low bits of `shifted`.
V scale(V y, V shifted, V n) {
  Builder& b = *y.b;
  if (b.v4()) return make(Op::kScale, y, n);
  if (b.wide()) {
    const V half = round(n * b.c(0.5), kDown), m = b.c(magic(b));
    return y * power_of_two(half + m) * power_of_two((n - half) + m);
  }
  const V k = int_sub(shifted, b.bits(magic_bits(b)));
  const V half = shift_arithmetic(k, 1);
  const auto power = [&](V e) { return shift_left(int_add(e, b.bits(127)), 23); };
  return y * power(half) * power(int_sub(k, half));
}

struct Split {
  V fraction, exponent;  // both floats
};

V to_float(V k) {
  Builder& b = *k.b;
  if (!b.wide()) return from_int(k);
  const V m = b.bits(magic_bits(b));
  return int_add(m, k) - m;
}

Split split(V x) {
  Builder& b = *x.b;
  const bool d = b.wide();
  const M subnormal =
      compare(x, b.c(d ? std::numeric_limits<double>::min() : double{math::kSmallestNormal}), kLt);
  const V bits = select(subnormal, x * b.c(d ? 0x1p52 : 0x1p23), x);
  const V shifted = int_sub(bits, b.bits(d ? uint64_t{0x3fe6a09e667f3bcd} : uint64_t{0x3f3504f3}));
  V k = shifted;
  if (d) {
    // Of 64 bits there is no arithmetic shift before AVX-512: shift the biased number.
    const uint64_t bias = uint64_t{1} << 63;
    k = int_sub(shift_right(int_add(shifted, b.bits(bias)), 52), b.bits(bias >> 52));
  } else {
    k = shift_arithmetic(shifted, 23);
  }
  const V m = int_sub(bits, shift_left(k, d ? 52 : 23));
  const V e = select(subnormal, int_sub(k, b.bits(d ? 52 : 23)), k);
  return {m - b.c(1), to_float(e)};
}

V log_assemble(V f, V k) {
  Builder& b = *f.b;
  if (b.wide()) {
    const V s = f / (b.c(2) + f);
    const V z = s * s;
    const V half_square = b.c(0.5) * f * f;
    const V tail = fma(s, fma(horner<double>(z, math::kLogDouble), z, half_square),
                       k * b.c(0x1.cf79abc9e3b39p-40));
    return fma(k, b.c(0x1.62e42fefap-1), f - (half_square - tail));
  }
  const V square = f * f;
  V tail = fma(horner(f, math::kLog), f, b.c(-0.5)) * square;
  tail = fma(k, b.c(0x1.7f7d1cp-20), tail);
  return fma(k, b.c(0x1.62e4p-1), f + tail);
}

V log1p_finite(V x) {
  Builder& b = *x.b;
  const V bits = b.c(1) + x;
  const V k = shift_arithmetic(int_sub(bits, b.bits(0x3f3504f3)), 23);
  const V exponent = shift_left(k, 23);
  const V m = int_sub(bits, exponent);
  const V s = int_sub(b.c(1), exponent);
  const V f = select(compare(abs(x), b.c(0x1p26), kLt), fma(x, s, s - b.c(1)), m - b.c(1));
  return log_assemble(f, from_int(k));
}

struct Quadrant {
  V angle, quadrant;
};

Quadrant reduce_near(V x) {
  Builder& b = *x.b;
  const V a = abs(x);
  const V shifted = fma(a, b.c(0x1.45f306p-1), b.c(magic(b)));
  const V n = shifted - b.c(magic(b));
  V r = fma(n, b.c(-0x1.921fb6p0), a);
  r = fma(n, b.c(0x1.777a5cp-25), r);
  r = fma(n, b.c(0x1.ee59dap-50), r);
  return {r, shifted};
}

V sin_small(V r) {
  const V z = r * r;
  return fma(r * z, horner(z, math::kSin), r);
}
V cos_small(V r) {
  Builder& b = *r.b;
  const V z = r * r;
  return fma(z * z, horner(z, math::kCos), fma(z, b.c(-0.5), b.c(1)));
}

V by_quadrant(const Quadrant& q, bool sine) {
  Builder& b = *q.angle.b;
  const M odd = int_compare(q.quadrant & b.bits(1), b.bits(0), kNe);
  const V s = sin_small(q.angle), c = cos_small(q.angle);
  return sine ? select(odd, c, s) : select(odd, s, c);
}

// Angles that are too large to be reduced in single precision are rare.
V corrected(V x, V y, Correction by) {
  Builder& b = *x.b;
  const M far = compare(abs(x), b.c(double{math::kNear<math::Isa<true>>}), kGt);
  return b.v(b.add(Op::kCorrect, far.id, x.id, y.id, static_cast<int>(by)));
}

}  // namespace

V exp(V x) {
  Builder& b = *x.b;
  const bool d = b.wide();
  // What rounds to zero is chosen: an underflow costs hundreds of cycles.
  const M some = compare(x, b.c(d ? -0x1.74910d52d3053p9 : -0x1.9fe368p6), kNotLt);
  const V low = make(Op::kMin, b.c(d ? 710.0 : 89.0), x);
  const Reduced e = reduce_ln2(select(some, low, b.c(0)));
  return select(some, scale(expm1_small(e.remainder) + b.c(1), e.shifted, e.n), b.c(0));
}

V expm1(V x) {
  Builder& b = *x.b;
  const Reduced e = reduce_ln2(clamp(x, b.c(-30), b.c(89)));
  const V half = power_of_two(e.shifted, -1);
  const V y = b.c(2) * fma(half, expm1_small(e.remainder), half - b.c(0.5));
  return select(compare(abs(x), b.c(0x1p-25), kLt), x, y);
}

V log(V x) {
  Builder& b = *x.b;
  const Split s = split(x);
  const double inf = std::numeric_limits<double>::infinity();
  V y = select(compare(x, b.c(inf), kLt), log_assemble(s.fraction, s.exponent), x);
  y = select(compare(x, b.c(0), kEq), b.c(-inf), y);
  return select(compare(x, b.c(0), kLt), b.c(std::numeric_limits<double>::quiet_NaN()), y);
}

V log1p(V x) {
  Builder& b = *x.b;
  const double inf = std::numeric_limits<double>::infinity();
  V y = select(compare(x, b.c(inf), kLt), log1p_finite(x), x);
  y = select(compare(x, b.c(-1), kEq), b.c(-inf), y);
  y = select(compare(x, b.c(-1), kLt), b.c(std::numeric_limits<double>::quiet_NaN()), y);
  return select(compare(abs(x), b.c(0x1p-25), kLt), x, y);
}

V tanh(V x) {
  Builder& b = *x.b;
  const V a = abs(x);
  const Reduced e = reduce_ln2(clamp(b.c(2) * a, b.c(0), b.c(20)));
  const V s = power_of_two(e.shifted);
  const V t = fma(s, expm1_small(e.remainder), s - b.c(1));
  return select(compare(a, b.c(0x1p-13), kLt), x, copysign(t / (t + b.c(2)), x));
}

V erf(V x) {
  Builder& b = *x.b;
  const V magnitude = abs(x);
  const V a = clamp(magnitude, b.c(1), b.c(4));
  const Reduced e = reduce_ln2(negate(fma(a, horner(a, math::kErfTail), a)));
  const V outer = b.c(1) - (expm1_small(e.remainder) + b.c(1)) * power_of_two(e.shifted);
  const V inner = fma(x, horner(x * x, math::kErf), x);
  return select(compare(magnitude, b.c(1), kLt), inner, copysign(outer, x));
}

V logistic(V x) {
  Builder& b = *x.b;
  const V e = exp(x | b.sign_bit());
  return select(compare(x, b.c(0), kLt), e, b.c(1)) / (b.c(1) + e);
}

V silu(V x) { return x * logistic(x); }

V softplus(V x) {
  Builder& b = *x.b;
  return select(compare(x, b.c(0), kLt), b.c(0), x) + log1p_finite(exp(x | b.sign_bit()));
}

V gelu_erf(V x) {
  Builder& b = *x.b;
  return b.c(0.5) * x * (b.c(1) + erf(x * b.c(0.70710678118654752440)));
}

V gelu_tanh(V x) {
  Builder& b = *x.b;
  const V inner = b.c(0.79788456080286535588) * (x + b.c(0.044715) * x * x * x);
  return b.c(0.5) * x * (b.c(1) + tanh(inner));
}

V sin(V x) {
  Builder& b = *x.b;
  const Quadrant q = reduce_near(x);
  const V flip = shift_left(q.quadrant & b.bits(2), 30);
  return corrected(x, by_quadrant(q, true) ^ flip ^ (x & b.sign_bit()), Correction::kSin);
}

V cos(V x) {
  Builder& b = *x.b;
  const Quadrant q = reduce_near(x);
  const V flip = shift_left(int_add(q.quadrant, b.bits(1)) & b.bits(2), 30);
  return corrected(x, by_quadrant(q, false) ^ flip, Correction::kCos);
}

}  // namespace spruce::cpu::x64
