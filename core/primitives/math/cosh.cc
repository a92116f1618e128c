// SPDX-License-Identifier: Apache-2.0
// The hyperbolic cosine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Cosh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::cosh<I>(x);
  }
};

}  // namespace

extern constinit const Primitive cosh_p = {
    .name = "cosh",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Cosh, cpu::Types::kFloating>,
    .scalar = scalar::unary<Cosh, cpu::Types::kFloating>,
    .jvp =
        rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t * sinh(x); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
