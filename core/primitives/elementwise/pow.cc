// SPDX-License-Identifier: Apache-2.0
// a^b. Of integers, a negative b gives 1 / a^|b| rounded toward zero, and 0 for a = 0.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Pow {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (scalar::Floating<T>) {
      return math::pow<I>(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b < 0) return a == 1 || (a == -1 && b % 2 == 0) ? T{1} : a == -1 ? T{-1} : T{0};
      }
      uint64_t power = 1, square = static_cast<uint64_t>(a);
      for (auto n = static_cast<uint64_t>(b); n != 0; n >>= 1) {
        if ((n & 1) != 0) power *= square;
        square *= square;
      }
      return static_cast<T>(power);
    }
  }
};

int pow_expression(const ScalarArgs& a) {
  return is_floating(a.out) ? scalar::binary<Pow, cpu::Types::kFloating>(a)
                            : scalar::call_of(scalar::Function::kPow, a);
}

// b a^(b-1). It is 0 for b = 0 also where a^-1 is not finite; elsewhere b stays in the formula,
// because its derivative with respect to b is not 0 there.
Array base_slope(const Array& a, const Array& b) {
  const Array zero = rules::scalar_like(0, b), one = rules::scalar_like(1, b);
  const Array flat = logical_and(b == zero, logical_not(abs(a) > zero));
  return where(flat, zero, b * bind1(pow_p, {where(flat, one, a), b - one}));
}

// log(a) a^b, where y is the power: 0, the limit, where that is 0 although log(a) is infinite.
Array exponent_slope(const Array& a, const Array& y) {
  const Array zero = rules::scalar_like(0, a), one = rules::scalar_like(1, a);
  return log(where(logical_or(a == zero, y == zero), one, a)) * y;
}

std::vector<Sample> pow_samples() {
  std::vector<Sample> integers = rules::integer_binary_samples<-3, 3>();
  for (Sample& s : integers) s.in[1].low = 0, s.in[1].high = 4;
  return rules::joined(rules::binary_samples<3, 30>(), integers);
}

}  // namespace

extern constinit const Primitive pow_p = {
    .name = "pow",
    .public_name = "power",
    .shape = rules::broadcast_numeric,
    .cpu = cpu::binary_kernel<Pow, cpu::Types::kNumeric>,
    .scalar = pow_expression,
    .jvp = rules::jvp_binary<[](const Array& a, const Array& b, const Array&, const Array& t) {
      return t * base_slope(a, b);
    },
                             [](const Array& a, const Array&, const Array& y, const Array& t) {
                               return t * exponent_slope(a, y);
                             }>,
    .batch = rules::batch_elementwise,
    .samples = pow_samples,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
