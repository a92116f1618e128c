// SPDX-License-Identifier: Apache-2.0
// e^x.
#include "spruce/core/math/exp.h"

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Exp {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::exp<I>(x);
  }
};

}  // namespace

extern constinit const Primitive exp_p = {
    .name = "exp",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Exp, cpu::exp_v4, cpu::exp_double_v4>,
    .scalar = scalar::unary<Exp, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) { return t * y; }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
