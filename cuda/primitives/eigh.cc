// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

// Jacobi's method: in each round all rows and columns are rotated, two by two, so that the elements
// where they cross become zeros. v has the eigenvectors as rows.
constexpr std::string_view kEigh = R"cuda(
    const sp::i64 players = n + n % 2, half = players / 2;
    sp::f64 *const a = memory, *const v = a + n * n, *const rotations = v + n * n;
    sp::f64 *const order = rotations + players, *const signs = order + n;
    sp::each(n * n, [&](sp::i64 i) {
      const sp::i64 r = i / n, c = i % n;
      a[i] = sp::f64(sp::widen(x0[matrix * n * n + (r < c ? c * n + r : i)]));
      v[i] = r == c ? 1.0 : 0.0;
    });
    __syncthreads();
    const sp::f64 largest = sp::largest_of(a, n * n, 1);
    if (largest == sp::infinity<sp::f64>()) {
      sp::each(n, [&](sp::i64 i) { y0[matrix * n + i] = sp::narrow<T>(sp::quiet_nan<C>()); });
      if (vectors != 0)
        sp::each(n * n, [&](sp::i64 i) { v0[matrix * n * n + i] = sp::narrow<T>(sp::quiet_nan<C>()); });
      continue;
    }
    const sp::f64 scale = sp::power_of_two_near(largest);
    sp::each(n * n, [&](sp::i64 i) { a[i] *= scale; });
    // Of denormal numbers the largest is not about 1 then.
    const sp::f64 least = 0x1p-54 * (largest * scale);
    for (int sweep = 0; sweep < 60; ++sweep) {
      sp::f64 rotated = 0;
      for (sp::i64 round = 0; round < players - 1; ++round) {
        __syncthreads();
        sp::each(half, [&](sp::i64 t) {
          sp::i64 p, q;
          sp::pair_of(players, round, t, p, q);
          sp::f64 c = 1, s = 0;
          if (q < n && sp::magnitude(a[p * n + q]) > least) {
            sp::rotation_of(a[p * n + p], a[q * n + q], a[p * n + q], c, s);
            rotated = 1;
          }
          rotations[2 * t] = c;
          rotations[2 * t + 1] = s;
        });
        __syncthreads();
        sp::each(half * n, [&](sp::i64 e) {
          const sp::i64 t = e / n, j = e % n;
          sp::i64 p, q;
          sp::pair_of(players, round, t, p, q);
          if (q >= n) return;
          sp::rotate(rotations, t, a[p * n + j], a[q * n + j]);
          sp::rotate(rotations, t, v[p * n + j], v[q * n + j]);
        });
        __syncthreads();
        sp::each(half * n, [&](sp::i64 e) {
          const sp::i64 t = e / n, j = e % n;
          sp::i64 p, q;
          sp::pair_of(players, round, t, p, q);
          if (q < n) sp::rotate(rotations, t, a[j * n + p], a[j * n + q]);
        });
        __syncthreads();
        sp::each(half, [&](sp::i64 t) {
          sp::i64 p, q;
          sp::pair_of(players, round, t, p, q);
          if (rotations[2 * t + 1] != 0) a[p * n + q] = a[q * n + p] = 0;
        });
      }
      if (sp::block_max(rotated) == 0) break;
    }
    __syncthreads();
    sp::each(n, [&](sp::i64 i) {
      const sp::f64 w = a[i * n + i];
      sp::i64 place = 0;
      for (sp::i64 j = 0; j < n; ++j) {
        const sp::f64 other = a[j * n + j];
        if (other < w || (other == w && j < i)) ++place;
      }
      order[place] = sp::f64(i);
      signs[place] = sp::needs_flip(v + i * n, n) ? -1.0 : 1.0;
      y0[matrix * n + place] = sp::narrow<T>(C(w / scale));
    });
    __syncthreads();
    if (vectors == 0) continue;
    sp::each(n * n, [&](sp::i64 i) {
      const sp::i64 from = sp::i64(order[i % n]);
      v0[matrix * n * n + i] = sp::narrow<T>(C(signs[i % n] * v[from * n + i / n]));
    });
)cuda";

Kernels make_eigh(const PrepareArgs& a) {
  Kernels out;
  const Shape& shape = a.in[0]->shape;
  const int64_t n = shape.back();
  const bool vectors = a.params.get<EighParams>().vectors;
  if (shape.numel() == 0) return out;
  KernelBuilder kernel("eigh", a);
  (void)kernel.input(0);
  const std::string w = kernel.output(0);
  kernel.begin("  auto* const v0 = " + (vectors ? kernel.output(1) : w) + ";\n");
  kernel.values({{"n", n}, {"vectors", vectors}});
  out.steps.push_back(
      matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count, 2 * n * n + 3 * n + 1, kEigh));
  return out;
}

}  // namespace

extern const Twin eigh_twin = {&eigh_p, make_eigh};

}  // namespace spruce::cuda
