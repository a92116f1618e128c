// SPDX-License-Identifier: Apache-2.0
// log |Gamma(x)|.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Lgamma {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::lgamma<I>(x);
  }
};

}  // namespace

extern constinit const Primitive lgamma_p = {
    .name = "lgamma",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Lgamma, cpu::Types::kFloating>,
    .scalar = scalar::unary<Lgamma, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * digamma(x);
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
