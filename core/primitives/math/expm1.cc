// SPDX-License-Identifier: Apache-2.0
// e^x - 1, exact near 0.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Expm1 {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::expm1<I>(x);
  }
};

}  // namespace

extern constinit const Primitive expm1_p = {
    .name = "expm1",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Expm1, cpu::Types::kFloating>,
    .scalar = scalar::unary<Expm1, cpu::Types::kFloating>,
    .jvp =
        rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t * exp(x); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
