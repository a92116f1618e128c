// SPDX-License-Identifier: Apache-2.0
// The product over axes. f16 and bf16 multiply in f32, integers wrap. With a zero among finite
// factors it is zero, whichever of the others overflow.
#include <algorithm>
#include <cmath>
#include <vector>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/reduce/reduce.h"
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

// NaN may be infinity times zero where no factor is infinite. Which of them it was is looked up in
// the factors: NaN is rare.
template <class T>
void mend_zeros(const View& x, const Axes& axes, const View& y) {
  T* const out = y.as<T>();
  const int64_t n = y.numel();
  const auto number = [](T v) { return static_cast<cpu::internal::Compute<T>>(v); };
  if (std::none_of(out, out + n, [&](T v) { return std::isnan(number(v)); })) return;
  struct Factors {
    bool finite = true, zero = false, negative = false;
  };
  std::vector<Factors> all(static_cast<size_t>(n));
  const Shape& shape = x.shape();
  Shape step = Shape::filled(shape.rank(), 0), at = step;
  for (int64_t i = shape.rank(), size = 1; i-- > 0;) {
    if (axes.contains(i)) continue;
    step[static_cast<int>(i)] = size;
    size *= shape[static_cast<int>(i)];
  }
  for (int64_t k = 0, place = 0; k < x.numel(); ++k) {
    Factors& f = all[static_cast<size_t>(place)];
    const auto v = number(x.as<const T>()[k]);
    f.finite = f.finite && std::isfinite(v);
    f.zero = f.zero || v == 0;
    f.negative = f.negative != std::signbit(v);
    for (int d = shape.rank(); d-- > 0;) {
      place += step[d];
      if (++at[d] < shape[d]) break;
      place -= step[d] * at[d];
      at[d] = 0;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const Factors& f = all[static_cast<size_t>(i)];
    if (f.finite && f.zero && std::isnan(number(out[i])))
      out[i] = static_cast<T>(f.negative ? -0.0f : 0.0f);
  }
}

void reduce_prod(const KernelArgs& args) {
  cpu::reduce_with<Product>(args);
  const View &x = args.in[0], &y = args.out[0];
  if (!is_floating(x.dtype()) || x.numel() == 0) return;
  visit_dtype(x.dtype(), [&]<class T>(T) {
    if constexpr (kIsHalf<T> || std::is_floating_point_v<T>)
      mend_zeros<T>(x, args.params.get<ReduceParams>().axes, y);
  });
}

// Halves are multiplied with each other until one element is left, each with its derivative:
// nothing is divided, so that zeros are right.
void reduce_prod_jvp(const JvpArgs& a) {
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
    .cpu = {reduce_prod, cpu::reduce_loops<Product>},
    .jvp = reduce_prod_jvp,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<reduce_prod, cpu::reduce_workspace>,
    .combine = &mul_p,
};

}  // namespace spruce
