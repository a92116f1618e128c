// SPDX-License-Identifier: Apache-2.0
// log(1 + e^x).
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/activation.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Softplus {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::softplus<I>(x);
  }
};

}  // namespace

extern constinit const Primitive softplus_p = {
    .name = "softplus",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Softplus, cpu::Types::kFloating>,
    .scalar = scalar::unary<Softplus, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * logistic(x);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-40, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .flops = rules::flops_per_output<5>,
};

}  // namespace spruce
