// SPDX-License-Identifier: Apache-2.0
// The sine.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Sin {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::sin<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE bool near(T x) {
    return math::is_near<I>(x);
  }
  template <class I, class T>
  static SPRUCE_INLINE T call_near(T x) {
    return math::sin<I, true>(x);
  }
};

}  // namespace

extern constinit const Primitive sin_p = {
    .name = "sin",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Sin, cpu::Types::kFloating>,
    .scalar = scalar::unary<Sin, cpu::Types::kFloating>,
    .jvp =
        rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t * cos(x); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-40, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
