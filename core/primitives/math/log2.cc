// SPDX-License-Identifier: Apache-2.0
// The logarithm to base 2.
#include <numbers>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/log.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Log2 {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::log2<I>(x);
  }
};

}  // namespace

extern constinit const Primitive log2_p = {
    .name = "log2",
    .shape = rules::same_floating,
    .cpu = cpu::unary_kernel<Log2, cpu::Types::kFloating>,
    .scalar = scalar::unary<Log2, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) {
      return t / (x * std::numbers::ln2);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<2, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
