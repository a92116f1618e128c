// SPDX-License-Identifier: Apache-2.0
// The angle of the point (b, a) in [-pi, pi].
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/inverse_trig.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Atan2 {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return math::atan2<I>(a, b);
  }
};

// x / (x^2 + y^2) without overflow in between; 0 at the origin, and where x is infinite.
Array over_square(const Array& any, const Array& y) {
  const Array x = where(isinf(any), rules::scalar_like(0, any), any), h = hypot(x, y);
  const Array safe = where(h == rules::scalar_like(0, h), rules::scalar_like(1, h), h);
  return x / safe / safe;
}

}  // namespace

extern constinit const Primitive atan2_p = {
    .name = "atan2",
    .shape = rules::broadcast_floating,
    .cpu = cpu::binary_kernel<Atan2, cpu::Types::kFloating>,
    .scalar = scalar::binary<Atan2, cpu::Types::kFloating>,
    .jvp = rules::jvp_binary<[](const Array& a, const Array& b, const Array&, const Array& t) {
      return t * over_square(b, a);
    },
                             [](const Array& a, const Array& b, const Array&, const Array& t) {
                               return t * -over_square(a, b);
                             }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<5, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
