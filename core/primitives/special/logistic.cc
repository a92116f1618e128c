// SPDX-License-Identifier: Apache-2.0
// 1 / (1 + e^-x).
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/math/activation.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Logistic {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::logistic<I>(x);
  }
};

}  // namespace

extern constinit const Primitive logistic_p = {
    .name = "logistic",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Logistic, cpu::logistic_v4>,
    .scalar = scalar::unary<Logistic, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (y * (1.0 - y));
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-40, 40>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
