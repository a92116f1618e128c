// SPDX-License-Identifier: Apache-2.0
// a / b; of integers rounded toward zero. An integer divided by 0 gives -1 (all bits set), and the
// smallest signed integer divided by -1 itself.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/division.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Div {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else if constexpr (I::kHasFma && sizeof(T) == 4) {
      const bool zero = b == 0;
      if constexpr (std::is_signed_v<T>) {
        const bool negated = b == -1;
        const T q = math::quotient(a, zero | negated ? T{1} : b);
        return zero ? T{-1} : negated ? static_cast<T>(0u - static_cast<uint32_t>(q)) : q;
      } else {
        return zero ? static_cast<T>(-1) : math::quotient(a, zero ? T{1} : b);
      }
    } else {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
      }
      return static_cast<T>(a / b);
    }
  }
};

void div_transpose(const TransposeArgs& a) {
  a.out[0] = rules::unbroadcast(a.cts[0] / a.in[1], a.avals[0].shape);
}

}  // namespace

extern constinit const Primitive div_p = {
    .name = "div",
    .public_name = "divide",
    .shape = rules::broadcast_numeric,
    .cpu = cpu::binary_kernel<Div, cpu::Types::kNumeric>,
    .scalar = scalar::operation<scalar::Op::kDiv>,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array& b, const Array&, const Array& t) { return t / b; },
        [](const Array&, const Array& b, const Array& y, const Array& t) { return t * (-y / b); }>,
    .transpose = div_transpose,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<5, 20>(),
                               rules::integer_binary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .in_place = true,
};

}  // namespace spruce
