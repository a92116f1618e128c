// SPDX-License-Identifier: Apache-2.0
// The inverse of the cosine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/inverse_trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Acos {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::acos<I>(x);
  }
};

}  // namespace

extern constinit const Primitive acos_p = {
    .name = "acos",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Acos, cpu::Types::kFloating>,
    .scalar = scalar::unary<Acos, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * -rsqrt((1.0 - x) * (1.0 + x));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
