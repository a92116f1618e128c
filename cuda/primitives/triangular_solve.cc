// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kColumns = 32;  // of b, for each block

// What has been found is subtracted from all rows that are left.
constexpr std::string_view kTriangularSolve = R"cuda(
    const sp::i64 system = matrix / pieces, first = matrix % pieces * columns;
    const sp::i64 width = k - first < columns ? k - first : columns;
    const T* const a = x0 + system * n * n;
    sp::f64* const x = memory;
    sp::each(n * width, [&](sp::i64 i) {
      x[i] = sp::f64(sp::widen(x1[system * n * k + i / width * k + first + i % width]));
    });
    for (sp::i64 step = 0; step < n; ++step) {
      const sp::i64 i = forwards != 0 ? step : n - 1 - step;
      __syncthreads();
      if (unit == 0) {
        const sp::f64 diagonal = sp::f64(sp::widen(a[i * n + i]));
        sp::each(width, [&](sp::i64 c) { x[i * width + c] /= diagonal; });
        __syncthreads();
      }
      const sp::i64 next = forwards != 0 ? i + 1 : 0;
      sp::each((n - 1 - step) * width, [&](sp::i64 e) {
        const sp::i64 j = next + e / width, c = e % width;
        x[j * width + c] -= sp::f64(sp::widen(a[j * row + i * column])) * x[i * width + c];
      });
    }
    __syncthreads();
    sp::each(n * width, [&](sp::i64 i) {
      y0[system * n * k + i / width * k + first + i % width] = sp::narrow<T>(C(x[i]));
    });
)cuda";

Kernels make_triangular_solve(const PrepareArgs& a) {
  Kernels out;
  const auto& p = a.params.get<TriangularSolveParams>();
  const Shape& shape = a.in[1]->shape;
  const int64_t n = shape[shape.rank() - 2], k = shape.back();
  if (shape.numel() == 0) return out;
  const int64_t pieces = (k + kColumns - 1) / kColumns;
  KernelBuilder kernel("triangular_solve", a);
  (void)kernel.input(0);
  (void)kernel.input(1);
  (void)kernel.output(0);
  kernel.values({{"n", n},
                 {"k", k},
                 {"pieces", pieces},
                 {"columns", kColumns},
                 {"row", p.transpose ? 1 : n},
                 {"column", p.transpose ? n : 1},
                 {"forwards", p.lower != p.transpose},
                 {"unit", p.unit_diagonal}});
  out.steps.push_back(matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count * pieces,
                                    n * std::min(k, kColumns), kTriangularSolve));
  return out;
}

}  // namespace

extern const Twin triangular_solve_twin = {&triangular_solve_p, make_triangular_solve};

}  // namespace spruce::cuda
