// SPDX-License-Identifier: Apache-2.0
// The logarithm to base 10.
#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/log.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Log10 {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::log10<I>(x);
  }
};

}  // namespace

extern constinit const Primitive log10_p = {
    .name = "log10",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Log10, cpu::Types::kFloating>,
    .scalar = scalar::unary<Log10, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / (x * std::numbers::ln10);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<2, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
