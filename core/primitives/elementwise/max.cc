// SPDX-License-Identifier: Apache-2.0
// The larger one; NaN if one of them is.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Max {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    using scalar::max, scalar::select;
    if constexpr (scalar::Floating<T>)
      return select(a != a, a, max(a, b));
    else
      return max(a, b);
  }
};

// 1 where a was chosen, 0.5 where both are equal, 0 elsewhere.
Array max_share(const Array& a, const Array& b) {
  const Array lesser = where(a == b, rules::scalar_like(0.5, a), rules::scalar_like(0.0, a));
  return where(a > b, rules::scalar_like(1.0, a), lesser);
}

}  // namespace

extern constinit const Primitive max_p = {
    .name = "max",
    .public_name = "maximum",
    .shape = rules::broadcast,
    .cpu = cpu::binary_kernel<Max, cpu::Types::kAll>,
    .scalar = scalar::binary<Max, cpu::Types::kAll>,
    .jvp = rules::jvp_binary<[](const Array& a, const Array& b, const Array&, const Array& t) {
      return t * max_share(a, b);
    },
                             [](const Array& a, const Array& b, const Array&, const Array& t) {
                               return t * max_share(b, a);
                             }>,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<-20, 20>(),
                               rules::integer_binary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .monoid = Monoid::kMax,
    .in_place = true,
};

}  // namespace spruce
