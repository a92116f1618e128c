// SPDX-License-Identifier: Apache-2.0
// a & b, bit by bit, of bool or integers.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct And {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return static_cast<T>(a & b);
  }
};

}  // namespace

extern constinit const Primitive and_p = {
    .name = "and",
    .public_name = "bitwise_and",
    .shape = rules::broadcast_integral,
    .cpu = cpu::binary_kernel<And, cpu::Types::kIntegral>,
    .scalar = scalar::operation<scalar::Op::kAnd>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_binary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .commutative = true,
    .monoid = Monoid::kAnd,
    .in_place = true,
};

}  // namespace spruce
