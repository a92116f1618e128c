// SPDX-License-Identifier: Apache-2.0
// The inverse of the error function.
#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/erf.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct ErfInv {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::erf_inv<I>(x);
  }
};

}  // namespace

extern constinit const Primitive erf_inv_p = {
    .name = "erf_inv",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<ErfInv, cpu::Types::kFloating>,
    .scalar = scalar::unary<ErfInv, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (0.5 / std::numbers::inv_sqrtpi * exp(y * y));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-9, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
