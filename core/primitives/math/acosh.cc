// SPDX-License-Identifier: Apache-2.0
// The inverse of the hyperbolic cosine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Acosh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::acosh<I>(x);
  }
};

}  // namespace

extern constinit const Primitive acosh_p = {
    .name = "acosh",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Acosh, cpu::Types::kFloating>,
    .scalar = scalar::unary<Acosh, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * (rsqrt(x - 1.0) * rsqrt(x + 1.0));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<12, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
