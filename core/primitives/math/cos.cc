// SPDX-License-Identifier: Apache-2.0
// The cosine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Cos {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::cos<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE bool near(T x) {
    return math::is_near<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE T call_near(T x) {
    return math::cos<I, true>(x);
  }
};

}  // namespace

extern constinit const Primitive cos_p = {
    .name = "cos",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Cos, cpu::Types::kFloating>,
    .scalar = scalar::unary<Cos, cpu::Types::kFloating>,
    .jvp =
        rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t * -sin(x); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-40, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
