// SPDX-License-Identifier: Apache-2.0
// 1 / sqrt(x).
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Rsqrt {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::rsqrt<I>(x);
  }
};

}  // namespace

extern constinit const Primitive rsqrt_p = {
    .name = "rsqrt",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Rsqrt, cpu::Types::kFloating>,
    .scalar = scalar::unary<Rsqrt, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array& y, const Array& t) {
      return t * (-0.5 * y / x);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<2, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
