// SPDX-License-Identifier: Apache-2.0
// a + b; for bool, logical or.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"
#include "spruce/core/scalar/wrapping.h"

namespace spruce {
namespace {

struct Add {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return scalar::wrapping_add(a, b);
  }
};

void add_transpose(const TransposeArgs& a) {
  for (size_t i = 0; i < 2; ++i) {
    if (a.linear(i)) a.out[i] = rules::unbroadcast(a.cts[0], a.avals[i].shape);
  }
}

}  // namespace

extern constinit const Primitive add_p = {
    .name = "add",
    .shape = rules::broadcast,
    .cpu = cpu::binary_kernel<Add, cpu::Types::kAll>,
    .scalar = scalar::operation_or<scalar::Op::kAdd, scalar::Op::kOr>,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array&, const Array&, const Array& t) { return t; },
        [](const Array&, const Array&, const Array&, const Array& t) { return t; }>,
    .transpose = add_transpose,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<-20, 20>(),
                               rules::integer_binary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .commutative = true,
    .monoid = Monoid::kSum,
    .in_place = true,
};

}  // namespace spruce
