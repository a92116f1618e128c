// SPDX-License-Identifier: Apache-2.0
// The number of bits that are set.
#include <bit>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"

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

}  // namespace

extern constinit const Primitive population_count_p = {
    .name = "population_count",
    .shape = rules::same_integral,
    .cpu = cpu::unary_kernel<PopulationCount, cpu::Types::kIntegral>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
