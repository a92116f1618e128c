// SPDX-License-Identifier: Apache-2.0
// The inverse of the hyperbolic sine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Asinh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::asinh<I>(x);
  }
};

}  // namespace

extern constinit const Primitive asinh_p = {
    .name = "asinh",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Asinh, cpu::Types::kFloating>,
    .scalar = scalar::unary<Asinh, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / hypot(x, 1.0);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
