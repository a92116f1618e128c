// SPDX-License-Identifier: Apache-2.0
// The cube root.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Cbrt {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::cbrt<I>(x);
  }
};

}  // namespace

extern constinit const Primitive cbrt_p = {
    .name = "cbrt",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Cbrt, cpu::Types::kFloating>,
    .scalar = scalar::unary<Cbrt, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t / (3.0 * (y * y));
    }>,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::unary_samples<2, 30>(), rules::unary_samples<-30, -2>());
        },
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
