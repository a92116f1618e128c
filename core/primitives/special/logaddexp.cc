// SPDX-License-Identifier: Apache-2.0
// log(e^a + e^b) without overflow in between.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/math/log.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Logaddexp {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    using scalar::abs, scalar::max, scalar::select;
    const T gap = select(a == b, T(0), abs(a - b));
    return max(a, b) + math::log1p<I, T>(math::exp<I, T>(-gap));
  }
};

// a - b, 0 where both are the same infinity.
Array gap(const Array& a, const Array& b) {
  return where(logical_and(isinf(a), a == b), rules::scalar_like(0, a), a - b);
}

// The kernel's steps: of equal infinities the difference is NaN.
std::vector<Array> logaddexp_expand(std::span<const Array> in, const Params&) {
  const Array &a = in[0], &b = in[1];
  const Array excess = log1p(exp(-where(a == b, 0, abs(a - b))));
  return {maximum(a, b) + excess};
}

}  // namespace

extern constinit const Primitive logaddexp_p = {
    .name = "logaddexp",
    .shape = rules::broadcast_floating,
    .cpu = cpu::binary_kernel<Logaddexp, cpu::Types::kFloating>,
    .scalar = scalar::binary<Logaddexp, cpu::Types::kFloating>,
    .jvp = rules::jvp_binary<[](const Array& a, const Array& b, const Array&, const Array& t) {
      return t * logistic(gap(a, b));
    },
                             [](const Array& a, const Array& b, const Array&, const Array& t) {
                               return t * logistic(gap(b, a));
                             }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = logaddexp_expand,
};

}  // namespace spruce
