// SPDX-License-Identifier: Apache-2.0
// The product over axes. f16 and bf16 multiply in f32, integers wrap.
#include "spruce/core/cpu/reduce.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

struct Product {
  static constexpr bool kUnsigned = true;
  template <class T>
  static constexpr bool accepts() {
    return !std::is_same_v<T, bool>;
  }
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(uint64_t{a} * uint64_t{b});
    else
      return a * b;
  }
};

// Halves are multiplied with each other until one element is left, each with its derivative:
// nothing is divided, so that zeros are right.
void jvp(const JvpArgs& a) {
  const Axes& axes = a.params.get<ReduceParams>().axes;
  const Array& x = a.in[0];
  a.out[0] = bind1(a.p, a.in, a.params);
  Axes perm = rules::other_axes(x.rank(), axes);
  Shape rows = a.out[0].shape();
  const int last = rows.rank();
  int64_t n = 1;
  for (const int64_t axis : axes) {
    perm.push_back(axis);
    n *= x.shape()[static_cast<int>(axis)];
  }
  if (n == 0) return;
  rows.push_back(n);
  Array y = reshape(transpose(x, perm), rows), t = reshape(transpose(a.tangents[0], perm), rows);
  const Array one = rules::scalar_of(x.dtype(), 1);
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    y = rules::pad_axis(y, one, last, 0, 2 * half - n);
    t = rules::pad_axis(t, last, 0, 2 * half - n);
    const Array y0 = rules::slice_axis(y, last, 0, half),
                y1 = rules::slice_axis(y, last, half, 2 * half);
    const Array t0 = rules::slice_axis(t, last, 0, half),
                t1 = rules::slice_axis(t, last, half, 2 * half);
    t = t0 * y1 + y0 * t1;
    y = y0 * y1;
    n = half;
  }
  a.out_tangents[0] = reshape(t, a.out[0].shape());
}

}  // namespace

extern constinit const Primitive reduce_prod_p = {
    .name = "reduce_prod",
    .shape = rules::reduced_numeric,
    .cpu = cpu::reduce_kernel<Product>,
    .jvp = jvp,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_scratch<cpu::reduce_kernel<Product>, cpu::reduce_scratch>,
};

}  // namespace spruce
