// SPDX-License-Identifier: Apache-2.0
// The smallest integer that is not below x.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Ceil {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_same_v<T, double>)
      return __builtin_ceil(x);
    else
      return __builtin_ceilf(x);
  }
};

}  // namespace

extern constinit const Primitive ceil_p = {
    .name = "ceil",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Ceil, cpu::Types::kFloating>,
    .scalar = scalar::operation<scalar::Op::kCeil>,
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
