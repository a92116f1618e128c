// SPDX-License-Identifier: Apache-2.0
// The inverse of the hyperbolic tangent.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Atanh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::atanh<I>(x);
  }
};

}  // namespace

extern constinit const Primitive atanh_p = {
    .name = "atanh",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Atanh, cpu::Types::kFloating>,
    .scalar = scalar::unary<Atanh, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / ((1.0 - x) * (1.0 + x));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
