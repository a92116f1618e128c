// SPDX-License-Identifier: Apache-2.0
// The inverse of the tangent.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/inverse_trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Atan {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::atan<I>(x);
  }
};

}  // namespace

extern constinit const Primitive atan_p = {
    .name = "atan",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Atan, cpu::Types::kFloating>,
    .scalar = scalar::unary<Atan, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / (1.0 + x * x);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
