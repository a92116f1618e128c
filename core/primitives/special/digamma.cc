// SPDX-License-Identifier: Apache-2.0
// The derivative of lgamma.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Digamma {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::digamma<I>(x);
  }
};

}  // namespace

extern constinit const Primitive digamma_p = {
    .name = "digamma",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Digamma, cpu::Types::kFloating>,
    .scalar = scalar::unary<Digamma, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * polygamma(1, x);
    }>,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::unary_samples<3, 40>(),
                               rules::valued_samples({-0.5, -1.3, -2.6, 0.2, 7.5}));
        },
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
