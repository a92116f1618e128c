// SPDX-License-Identifier: Apache-2.0
// log(1 + x), exact near 0.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/log.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Log1p {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::log1p<I>(x);
  }
};

}  // namespace

extern constinit const Primitive log1p_p = {
    .name = "log1p",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Log1p, cpu::Types::kFloating>,
    .scalar = scalar::unary<Log1p, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / (x + 1.0);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-8, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
