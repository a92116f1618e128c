// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kCholesky = R"cuda(
    sp::f64* const a = memory;
    sp::each(n * n, [&](sp::i64 i) { a[i] = sp::f64(sp::widen(x0[matrix * n * n + i])); });
    bool is_positive = true;
    for (sp::i64 k = 0; k < n; ++k) {
      __syncthreads();
      const sp::f64 square = a[k * n + k];
      is_positive = square > 0;
      if (!is_positive) break;
      const sp::f64 root = ::sqrt(square);
      __syncthreads();
      sp::each(n - k, [&](sp::i64 i) {
        sp::f64& entry = a[(k + i) * n + k];
        entry = i == 0 ? root : entry / root;
      });
      __syncthreads();
      const sp::i64 rest = n - k - 1;
      sp::each(rest * rest, [&](sp::i64 e) {
        const sp::i64 i = k + 1 + e / rest, j = k + 1 + e % rest;
        if (j <= i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      });
    }
    __syncthreads();
    sp::each(n * n, [&](sp::i64 i) {
      const C entry = is_positive ? C(i % n <= i / n ? a[i] : 0.0) : sp::quiet_nan<C>();
      y0[matrix * n * n + i] = sp::narrow<T>(entry);
    });
)cuda";

Kernels make_cholesky(const PrepareArgs& a) {
  Kernels out;
  const Shape& shape = a.in[0]->shape;
  const int64_t n = shape.back();
  if (shape.numel() == 0) return out;
  KernelBuilder kernel("cholesky", a);
  (void)kernel.input(0);
  (void)kernel.output(0);
  kernel.value("n", n);
  out.steps.push_back(
      matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count, n * n, kCholesky));
  return out;
}

}  // namespace

extern const Twin cholesky_twin = {&cholesky_p, make_cholesky};

}  // namespace spruce::cuda
