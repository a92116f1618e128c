// SPDX-License-Identifier: Apache-2.0
// The hyperbolic tangent.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Tanh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::tanh<I>(x);
  }
};

}  // namespace

extern constinit const Primitive tanh_p = {
    .name = "tanh",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Tanh, cpu::tanh_v4>,
    .scalar = scalar::unary<Tanh, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (1.0 - y * y);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
