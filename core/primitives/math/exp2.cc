// SPDX-License-Identifier: Apache-2.0
// 2^x.
#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Exp2 {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::exp2<I>(x);
  }
};

}  // namespace

extern constinit const Primitive exp2_p = {
    .name = "exp2",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Exp2, cpu::Types::kFloating>,
    .scalar = scalar::unary<Exp2, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      return t * (y * std::numbers::ln2);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
