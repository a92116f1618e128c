// SPDX-License-Identifier: Apache-2.0
// The error function.
#include "spruce/core/math/erf.h"

#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Erf {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::erf<I>(x);
  }
};

}  // namespace

extern constinit const Primitive erf_p = {
    .name = "erf",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Erf, cpu::erf_v4>,
    .scalar = scalar::unary<Erf, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t * (2.0 * std::numbers::inv_sqrtpi * exp(-(x * x)));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
