// SPDX-License-Identifier: Apache-2.0
// a == b, as bool.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Eq {
  template <class I, class T>
  static SPRUCE_INLINE bool call(T a, T b) {
    return a == b;
  }
};

}  // namespace

extern constinit const Primitive eq_p = {
    .name = "eq",
    .public_name = "equal",
    .shape = rules::broadcast_compare,
    .cpu = cpu::binary_kernel<Eq, cpu::Types::kAll, bool>,
    .scalar = scalar::operation<scalar::Op::kEqual>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<-20, 20>(),
                               rules::integer_binary_samples<-2, 2>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .commutative = true,
};

}  // namespace spruce
