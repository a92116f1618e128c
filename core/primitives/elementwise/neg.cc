// SPDX-License-Identifier: Apache-2.0
// -x; unsigned integers wrap.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Neg {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
    else
      return -x;
  }
};

void neg_transpose(const TransposeArgs& a) { a.out[0] = -a.cts[0]; }

}  // namespace

extern constinit const Primitive neg_p = {
    .name = "neg",
    .public_name = "negative",
    .shape = rules::same_numeric,
    .cpu = cpu::unary_kernel<Neg, cpu::Types::kNumeric>,
    .scalar = scalar::operation<scalar::Op::kNeg>,
    .jvp = rules::jvp_unary<[](const Array&, const Array&, const Array& t) { return -t; }>,
    .transpose = neg_transpose,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::unary_samples<-20, 20>(),
                               rules::integer_unary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .in_place = true,
};

}  // namespace spruce
