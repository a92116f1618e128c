// SPDX-License-Identifier: Apache-2.0
// a * b; for bool, logical and.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"
#include "spruce/core/scalar/wrapping.h"

namespace spruce {
namespace {

struct Mul {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return scalar::wrapping_multiply(a, b);
  }
};

void mul_transpose(const TransposeArgs& a) {
  const size_t i = a.linear(0) ? 0 : 1;
  a.out[i] = rules::unbroadcast(a.cts[0] * a.in[1 - i], a.avals[i].shape);
}

}  // namespace

extern constinit const Primitive mul_p = {
    .name = "mul",
    .public_name = "multiply",
    .shape = rules::broadcast,
    .cpu = cpu::binary_kernel<Mul, cpu::Types::kAll>,
    .scalar = scalar::operation_or<scalar::Op::kMul, scalar::Op::kAnd>,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array& b, const Array&, const Array& t) { return t * b; },
        [](const Array& a, const Array&, const Array&, const Array& t) { return a * t; }>,
    .transpose = mul_transpose,
    .batch = rules::batch_elementwise,
    .samples =
        [] {
          return rules::joined(rules::binary_samples<-20, 20>(),
                               rules::integer_binary_samples<-9, 9>());
        },
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .commutative = true,
    .monoid = Monoid::kProduct,
    .in_place = true,
};

}  // namespace spruce
