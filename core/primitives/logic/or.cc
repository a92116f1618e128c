// SPDX-License-Identifier: Apache-2.0
// a | b, bit by bit, of bool or integers.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Or {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return static_cast<T>(a | b);
  }
};

}  // namespace

extern constinit const Primitive or_p = {
    .name = "or",
    .public_name = "bitwise_or",
    .shape = rules::broadcast_integral,
    .cpu = cpu::binary_kernel<Or, cpu::Types::kIntegral>,
    .scalar = scalar::operation<scalar::Op::kOr>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_binary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .commutative = true,
    .monoid = Monoid::kOr,
    .in_place = true,
};

}  // namespace spruce
