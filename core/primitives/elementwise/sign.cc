// SPDX-License-Identifier: Apache-2.0
// -1, 0 or 1 by the sign of x; NaN for NaN.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Sign {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    using scalar::select;
    T zero(0);
    if constexpr (scalar::Floating<T>) zero = select(x != x, x, zero);
    return select(x > T(0), T(1), select(x < T(0), T(-1), zero));
  }
};

}  // namespace

extern constinit const Primitive sign_p = {
    .name = "sign",
    .shape = rules::same_numeric,
    .cpu = cpu::unary_kernel<Sign, cpu::Types::kNumeric>,
    .scalar = scalar::unary<Sign, cpu::Types::kNumeric>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::valued_samples({-1.7, -0.4, 0.3, 1.6}),
                               rules::integer_unary_samples<-2, 2>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .in_place = true,
};

}  // namespace spruce
