// SPDX-License-Identifier: Apache-2.0
// The identity, with derivative zero.
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {

extern constinit const Primitive stop_gradient_p = {
    .name = "stop_gradient",
    .shape = rules::same,
    .scalar = scalar::identity,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-20, 20>,
    .kind = PrimitiveKind::kView,
    .flops = rules::no_flops,
};

}  // namespace spruce
