// SPDX-License-Identifier: Apache-2.0
// The largest integer that is not above x.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Floor {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_same_v<T, double>)
      return __builtin_floor(x);
    else
      return __builtin_floorf(x);
  }
};

}  // namespace

extern constinit const Primitive floor_p = {
    .name = "floor",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Floor, cpu::Types::kFloating>,
    .scalar = scalar::operation<scalar::Op::kFloor>,
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
