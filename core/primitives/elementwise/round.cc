// SPDX-License-Identifier: Apache-2.0
// The nearest integer, halves to the even one.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct HalvesToEven {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_same_v<T, double>)
      return __builtin_rint(x);
    else
      return __builtin_rintf(x);
  }
};

}  // namespace

extern constinit const Primitive round_p = {
    .name = "round",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<HalvesToEven, cpu::Types::kFloating>,
    .scalar = scalar::operation<scalar::Op::kRound>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::valued_samples({-1.7, -0.4, 0.3, 1.6, 2.9});
        },
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
