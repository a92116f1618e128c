// SPDX-License-Identifier: Apache-2.0
// True where x is neither infinite nor NaN.
#include <cmath>
#include <limits>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct IsFinite {
  template <class I, class T>
  static SPRUCE_INLINE auto call(T x) {
    using scalar::abs;
    return abs(x) <= std::numeric_limits<scalar::Element<T>>::max();
  }
};

}  // namespace

extern constinit const Primitive is_finite_p = {
    .name = "is_finite",
    .shape = rules::predicate_floating,
    .cpu = cpu::unary_kernel<IsFinite, cpu::Types::kFloating, bool>,
    .scalar = scalar::unary<IsFinite, cpu::Types::kFloating>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::valued_samples({-1.7, 0.3, HUGE_VAL, -HUGE_VAL, NAN});
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
};

}  // namespace spruce
