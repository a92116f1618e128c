// SPDX-License-Identifier: Apache-2.0
// The tangent.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Tan {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::tan<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE bool near(T x) {
    return math::is_near<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE T call_near(T x) {
    return math::tan<I, true>(x);
  }
};

}  // namespace

extern constinit const Primitive tan_p = {
    .name = "tan",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Tan, cpu::Types::kFloating>,
    .scalar = scalar::unary<Tan, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (1.0 + y * y);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-13, 13>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
