// SPDX-License-Identifier: Apache-2.0
// The number of bits that are set.
#include <bit>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct PopulationCount {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else
      return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

// Pairs of bits are added up, then pairs of those sums, and so on.
int expression(const ScalarArgs& a) {
  if (is_bool(a.out)) return a.in[0];
  using scalar::Op;
  const int width = static_cast<int>(size_of(a.out)) * 8;
  const auto type = static_cast<Dtype>(static_cast<int>(Dtype::kUint8) +
                                       std::countr_zero(static_cast<unsigned>(size_of(a.out))));
  int x = a.program.add(Op::kBitcast, type, a.in[0]);
  for (int step = 1; step < width; step *= 2) {
    uint64_t mask = 0;  // the lower half of each pair
    for (int bit = 0; bit < width; bit += 2 * step) mask |= ((uint64_t{1} << step) - 1) << bit;
    const int lower = a.program.constant(type, mask), by = a.program.constant(type, step);
    const int shifted = a.program.add(Op::kShiftRight, type, x, by);
    x = a.program.add(Op::kAdd, type, a.program.add(Op::kAnd, type, x, lower),
                      a.program.add(Op::kAnd, type, shifted, lower));
  }
  return a.program.add(Op::kBitcast, a.out, x);
}

}  // namespace

extern constinit const Primitive population_count_p = {
    .name = "population_count",
    .shape = rules::same_integral,
    .cpu = cpu::unary_kernel<PopulationCount, cpu::Types::kIntegral>,
    .scalar = expression,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
