// SPDX-License-Identifier: Apache-2.0
// max(x, 0); NaN stays NaN; the derivative at 0 is 0.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Relu {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    using scalar::select;
    return select(x <= T(0), T(0), x);
  }
};

std::vector<Array> relu_expand(std::span<const Array> in, const Params&) {
  return {where(in[0] <= zeros_like(in[0]), zeros_like(in[0]), in[0])};
}

}  // namespace

extern constinit const Primitive relu_p = {
    .name = "relu",
    .shape = rules::same_numeric,
    .cpu = cpu::unary_kernel<Relu, cpu::Types::kNumeric>,
    .scalar = scalar::unary<Relu, cpu::Types::kNumeric>,
    // By the result, which what follows keeps anyway.
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      const Array zero = zeros({}, t.dtype());
      return where(y > zero, t, zero);
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .in_place = true,
    .expand = relu_expand,
};

}  // namespace spruce
