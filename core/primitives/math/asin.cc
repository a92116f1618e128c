// SPDX-License-Identifier: Apache-2.0
// The inverse of the sine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/inverse_trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Asin {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::asin<I>(x);
  }
};

}  // namespace

extern constinit const Primitive asin_p = {
    .name = "asin",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Asin, cpu::Types::kFloating>,
    .scalar = scalar::unary<Asin, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * rsqrt((1.0 - x) * (1.0 + x));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
