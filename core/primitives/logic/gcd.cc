// SPDX-License-Identifier: Apache-2.0
// The greatest common divisor of integers, at least 0 (but for the smallest signed integer, which
// has no opposite).
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Gcd {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    uint64_t x = magnitude(a), y = magnitude(b);
    while (y != 0) {
      const uint64_t r = x % y;
      x = y;
      y = r;
    }
    return static_cast<T>(x);
  }

  template <class T>
  static SPRUCE_INLINE uint64_t magnitude(T x) {
    const auto bits = static_cast<uint64_t>(x);
    if constexpr (std::is_signed_v<T>)
      return x < 0 ? uint64_t{0} - bits : bits;
    else
      return bits;
  }
};

}  // namespace

extern constinit const Primitive gcd_p = {
    .name = "gcd",
    .shape = rules::broadcast_integer,
    .cpu = cpu::binary_kernel<Gcd, cpu::Types::kIntegral>,
    .scalar = scalar::call<scalar::Function::kGcd>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = rules::integer_binary_samples<-30, 30>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
