// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

// Reflectors one after the other, a thread a column; their vectors stay below the diagonal of a.
constexpr std::string_view kQr = R"cuda(
    sp::f64 *const a = memory, *const q = a + m * n, *const taus = q + m * columns;
    sp::each(m * n, [&](sp::i64 i) { a[i] = sp::f64(sp::widen(x0[matrix * m * n + i])); });
    // x -= tau v (v' x) for columns first to last of a matrix, v being that of column k.
    const auto reflect = [&](sp::f64* x, sp::i64 step, sp::i64 k, sp::i64 first, sp::i64 last) {
      const sp::f64 tau = taus[k];
      sp::each(last - first, [&](sp::i64 c) {
        const sp::i64 j = first + c;
        sp::f64 sum = x[k * step + j];
        for (sp::i64 i = k + 1; i < m; ++i) sum += a[i * n + k] * x[i * step + j];
        sum *= tau;
        x[k * step + j] -= sum;
        for (sp::i64 i = k + 1; i < m; ++i) x[i * step + j] -= sum * a[i * n + k];
      });
    };
    for (sp::i64 k = 0; k < least; ++k) {
      __syncthreads();
      sp::f64* const column = a + k * n + k;
      const sp::f64 alpha = column[0], below = sp::largest_of(column + n, m - k - 1, n);
      sp::f64 tau = 0;
      if (below != 0) {  // NaN and infinity too
        const sp::f64 size = sp::magnitude(alpha);
        const sp::f64 scale = sp::power_of_two_near(size < below ? below : size);
        sp::f64 squares = 0;
        sp::each(m - k, [&](sp::i64 i) {
          const sp::f64 x = column[i * n] * scale;
          squares += x * x;
        });
        // The sign of a zero counts too, as on the CPU.
        const sp::f64 first = alpha * scale, root = ::sqrt(sp::block_sum(squares));
        const sp::f64 beta = ::copysign(root, -first);
        tau = (beta - first) / beta;
        sp::each(m - k, [&](sp::i64 i) {
          sp::f64& entry = column[i * n];
          entry = i == 0 ? beta / scale : entry * scale / (first - beta);
        });
      }
      if (threadIdx.x == 0) taus[k] = tau;
      __syncthreads();
      reflect(a, n, k, k + 1, n);
    }
    __syncthreads();
    sp::each(m * columns, [&](sp::i64 i) { q[i] = i / columns == i % columns ? 1.0 : 0.0; });
    for (sp::i64 k = least; k-- > 0;) {
      __syncthreads();
      reflect(q, columns, k, k, columns);
    }
    __syncthreads();
    sp::each(m * columns, [&](sp::i64 i) { y0[matrix * m * columns + i] = sp::narrow<T>(C(q[i])); });
    sp::each(columns * n, [&](sp::i64 i) {
      y1[matrix * columns * n + i] = sp::narrow<T>(C(i / n <= i % n ? a[i] : 0.0));
    });
)cuda";

Kernels make_qr(const PrepareArgs& a) {
  Kernels out;
  const Shape &shape = a.in[0]->shape, &q = a.out[0]->shape;
  const int64_t m = shape[shape.rank() - 2], n = shape.back(), k = std::min(m, n);
  const int64_t columns = q.back();
  if (q.numel() == 0 && a.out[1]->numel() == 0) return out;
  KernelBuilder kernel("qr", a);
  (void)kernel.input(0);
  (void)kernel.output(0);
  (void)kernel.output(1);
  kernel.values({{"m", m}, {"n", n}, {"least", k}, {"columns", columns}});
  out.steps.push_back(
      matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count, m * n + m * columns + k, kQr));
  return out;
}

}  // namespace

extern const Twin qr_twin = {&qr_p, make_qr};

}  // namespace spruce::cuda
