// SPDX-License-Identifier: Apache-2.0
// The natural logarithm.
#include "spruce/core/math/log.h"

#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Log {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    return math::log<I>(x);
  }
};

}  // namespace

extern constinit const Primitive log_p = {
    .name = "log",
    .shape = rules::same_floating,
    .cpu = cpu::kernel_with_v4<Log, cpu::no_loop, cpu::log_double_v4>,
    .scalar = scalar::unary<Log, cpu::Types::kFloating>,
    .jvp = rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t / x; }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<2, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
