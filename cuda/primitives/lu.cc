// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kLu = R"cuda(
    sp::f64* const a = memory;
    sp::i32 *const pivots = y1 + matrix * least, *const permutation = y2 + matrix * m;
    sp::each(m * n, [&](sp::i64 i) { a[i] = sp::f64(sp::widen(x0[matrix * m * n + i])); });
    sp::each(m, [&](sp::i64 i) { permutation[i] = sp::i32(i); });
    for (sp::i64 k = 0; k < least; ++k) {
      __syncthreads();
      // The first row of the largest magnitude, NaN before all numbers.
      const auto rank = [](sp::f64 x) { return x == x ? sp::magnitude(x) : sp::infinity<sp::f64>(); };
      sp::f64 largest = rank(a[k * n + k]);
      sp::i64 at = k;
      sp::each(m - k, [&](sp::i64 i) {
        const sp::f64 x = rank(a[(k + i) * n + k]);
        if (x > largest) largest = x, at = k + i;
      });
      const sp::i64 pivot = sp::place_of_largest(largest, at, k);
      sp::each(n, [&](sp::i64 j) {
        const sp::f64 x = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = x;
      });
      if (threadIdx.x == 0) {
        const sp::i32 row = permutation[k];
        permutation[k] = permutation[pivot];
        permutation[pivot] = row;
        pivots[k] = sp::i32(pivot);
      }
      __syncthreads();
      const sp::f64 top = a[k * n + k];
      if (top == 0) continue;
      sp::each(m - k - 1, [&](sp::i64 i) { a[(k + 1 + i) * n + k] /= top; });
      __syncthreads();
      const sp::i64 rest = n - k - 1;
      sp::each((m - k - 1) * rest, [&](sp::i64 e) {
        const sp::i64 i = k + 1 + e / rest, j = k + 1 + e % rest;
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
      });
    }
    __syncthreads();
    sp::each(m * n, [&](sp::i64 i) { y0[matrix * m * n + i] = sp::narrow<T>(C(a[i])); });
)cuda";

Kernels make_lu(const PrepareArgs& a) {
  Kernels out;
  const Shape& shape = a.in[0]->shape;
  const int64_t m = shape[shape.rank() - 2], n = shape.back();
  if (a.out[2]->numel() == 0) return out;
  KernelBuilder kernel("lu", a);
  (void)kernel.input(0);
  for (size_t i = 0; i < 3; ++i) (void)kernel.output(i);
  kernel.values({{"m", m}, {"n", n}, {"least", std::min(m, n)}});
  out.steps.push_back(matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count, m * n, kLu));
  return out;
}

}  // namespace

extern const Twin lu_twin = {&lu_p, make_lu};

}  // namespace spruce::cuda
