// SPDX-License-Identifier: Apache-2.0
// x / (1 + e^-x) (Hendrycks and Gimpel 2016).
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/math/activation.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Silu {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return x * math::logistic<I>(x);
  }
};

std::vector<Array> silu_expand(std::span<const Array> in, const Params&) {
  return {in[0] * logistic(in[0])};
}

}  // namespace

extern constinit const Primitive silu_p = {
    .name = "silu",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Silu, cpu::silu_v4>,
    .scalar = scalar::unary<Silu, cpu::Types::kFloating>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-40, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = silu_expand,
    .flops = rules::flops_per_output<5>,
};

}  // namespace spruce
