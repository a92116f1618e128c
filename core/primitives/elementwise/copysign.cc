// SPDX-License-Identifier: Apache-2.0
// The magnitude of a with the sign of b.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Copysign {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return math::copysign(a, b);
  }
};

Array slope(const Array& a, const Array& b) {
  return sign(a) * copysign(rules::scalar_like(1, b), b);
}

}  // namespace

extern constinit const Primitive copysign_p = {
    .name = "copysign",
    .shape = rules::broadcast_floating,
    .cpu = cpu::binary_kernel<Copysign, cpu::Types::kFloating>,
    .scalar = scalar::operation<scalar::Op::kCopysign>,
    .jvp = rules::jvp_binary<[](const Array& a, const Array& b, const Array&, const Array& t) {
      return t * slope(a, b);
    },
                             [](const Array&, const Array&, const Array&, const Array&) {
                               return Array();
                             }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<5, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
