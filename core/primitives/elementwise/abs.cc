// SPDX-License-Identifier: Apache-2.0
// |x|; the smallest signed integer stays itself.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Abs {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return math::abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
    else
      return x;
  }
};

}  // namespace

extern constinit const Primitive abs_p = {
    .name = "abs",
    .shape = rules::same,
    .cpu = cpu::unary_kernel<Abs, cpu::Types::kAll>,
    .scalar = scalar::operation<scalar::Op::kAbs>,
    .jvp =
        rules::jvp_unary<[](const Array& x, const Array&, const Array& t) { return t * sign(x); }>,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::valued_samples({-1.7, -0.4, 0.3, 1.6}),
                               rules::integer_unary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .in_place = true,
};

}  // namespace spruce
