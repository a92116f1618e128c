// SPDX-License-Identifier: Apache-2.0
// a - b.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Sub {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else
      return a - b;
  }
};

void sub_transpose(const TransposeArgs& a) {
  if (a.linear(0)) a.out[0] = rules::unbroadcast(a.cts[0], a.avals[0].shape);
  if (a.linear(1)) a.out[1] = rules::unbroadcast(-a.cts[0], a.avals[1].shape);
}

}  // namespace

extern constinit const Primitive sub_p = {
    .name = "sub",
    .public_name = "subtract",
    .shape = rules::broadcast_numeric,
    .cpu = cpu::binary_kernel<Sub, cpu::Types::kNumeric>,
    .scalar = scalar::operation<scalar::Op::kSub>,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array&, const Array&, const Array& t) { return t; },
        [](const Array&, const Array&, const Array&, const Array& t) { return -t; }>,
    .transpose = sub_transpose,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<-20, 20>(),
                               rules::integer_binary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .in_place = true,
};

}  // namespace spruce
