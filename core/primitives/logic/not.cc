// SPDX-License-Identifier: Apache-2.0
// ~x, bit by bit; of bool the logical not.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Not {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};

}  // namespace

extern constinit const Primitive not_p = {
    .name = "not",
    .public_name = "bitwise_not",
    .shape = rules::same_integral,
    .cpu = cpu::unary_kernel<Not, cpu::Types::kIntegral>,
    .scalar = scalar::operation<scalar::Op::kNot>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .in_place = true,
};

}  // namespace spruce
