// SPDX-License-Identifier: Apache-2.0
// The square root.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Sqrt {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::sqrt<I>(x);
  }
};

}  // namespace

extern constinit const Primitive sqrt_p = {
    .name = "sqrt",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Sqrt, cpu::Types::kFloating>,
    .scalar = scalar::operation<scalar::Op::kSqrt>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (0.5 / y);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<2, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
