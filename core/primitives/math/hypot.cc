// SPDX-License-Identifier: Apache-2.0
// sqrt(a^2 + b^2) without overflow in between.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Hypot {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return math::hypot<I>(a, b);
  }
};

// x / h for the hypotenuse h: 0 where h = 0, and the limit, 1 or -1, where x is infinite.
Array ratio(const Array& x, const Array& h) {
  const Array one = rules::scalar_like(1, x), infinite = isinf(x);
  const Array flat = logical_or(h == rules::scalar_like(0, h), infinite);
  return where(infinite, copysign(one, x), x) / where(flat, one, h);
}

}  // namespace

extern constinit const Primitive hypot_p = {
    .name = "hypot",
    .shape = rules::broadcast_floating,
    .cpu = cpu::binary_kernel<Hypot, cpu::Types::kFloating>,
    .scalar = scalar::binary<Hypot, cpu::Types::kFloating>,
    .jvp = rules::jvp_binary<[](const Array& a, const Array&, const Array& y, const Array& t) {
      return t * ratio(a, y);
    },
                             [](const Array&, const Array& b, const Array& y, const Array& t) {
                               return t * ratio(b, y);
                             }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
