// SPDX-License-Identifier: Apache-2.0
// a >> b, filled with the highest bit, which is all that stays where b is not in 0 .. bits - 1.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct ShiftRightArithmetic {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
      return a;
    } else {
      using U = std::make_unsigned_t<T>;
      constexpr U kLast = sizeof(T) * 8 - 1;
      const U by = static_cast<U>(b);
      return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> (by < kLast ? by : kLast));
    }
  }
};

}  // namespace

extern constinit const Primitive shift_right_arithmetic_p = {
    .name = "shift_right_arithmetic",
    .public_name = "right_shift",
    .shape = rules::broadcast_integer,
    .cpu = cpu::binary_kernel<ShiftRightArithmetic, cpu::Types::kIntegral>,
    .scalar = scalar::shift_right<true>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_binary_samples<-2, 9>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
