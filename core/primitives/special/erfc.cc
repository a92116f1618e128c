// SPDX-License-Identifier: Apache-2.0
// 1 - erf(x), exact where erf is near 1.
#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/erf.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Erfc {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::erfc<I>(x);
  }
};

}  // namespace

extern constinit const Primitive erfc_p = {
    .name = "erfc",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Erfc, cpu::Types::kFloating>,
    .scalar = scalar::unary<Erfc, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * (-2.0 * std::numbers::inv_sqrtpi * exp(-(x * x)));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
