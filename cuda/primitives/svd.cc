// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/rules/decompositions.h"
#include "spruce/cuda/codegen/matrices.h"

namespace spruce::cuda {
namespace {

// One-sided Jacobi on the columns of the matrix, or on its rows where it is wide: "lines", of
// `length` numbers, which are rotated two by two until they are orthogonal. Eight threads add up a
// product of lines, 128 numbers after the other, which rounds less than one long sum; what is left
// of that grows with the root of the length, and is no reason to rotate.
constexpr std::string_view kSvd = R"cuda(
    const sp::i64 players = lines + lines % 2, half = players / 2;
    sp::f64 *const g = memory, *const v = g + lines * length, *const u = v + lines * lines;
    sp::f64 *const rotations = u + left * length, *const norms = rotations + players;
    sp::f64 *const order = norms + lines, *const signs = order + lines, *const parts = signs + lines;
    sp::each(lines * length, [&](sp::i64 i) {
      const sp::i64 from = wide != 0 ? i : i % length * lines + i / length;
      g[i] = sp::f64(sp::widen(x0[matrix * lines * length + from]));
    });
    sp::each(lines * lines, [&](sp::i64 i) { v[i] = i / lines == i % lines ? 1.0 : 0.0; });
    __syncthreads();
    const sp::f64 largest = sp::largest_of(g, lines * length, 1);
    const bool broken = largest == sp::infinity<sp::f64>();
    const sp::f64 scale = broken ? 1.0 : sp::power_of_two_near(largest);
    sp::each(lines * length, [&](sp::i64 i) { g[i] *= scale; });
    const int lane = threadIdx.x % 8, group = threadIdx.x / 8, groups = blockDim.x / 8;
    // The sum of x[j] y[j], by eight threads; whole warps take part.
    const auto product = [&](const sp::f64* x, const sp::f64* y, sp::i64 size) {
      sp::f64 sum = 0;
      for (sp::i64 first = 0; first < size; first += 128) {
        const sp::i64 end = size - first < 128 ? size : first + 128;
        sp::f64 part = 0;
        for (sp::i64 j = first + lane; j < end; j += 8) part += x[j] * y[j];
        sum += part;
      }
      for (int by = 4; by > 0; by /= 2) sum += sp::shuffle_xor(sum, by);
      return sum;
    };
    const sp::f64 root = ::sqrt(sp::f64(length)), least = 0x1p-53 * (root < 4 ? 4.0 : root);
    for (int sweep = 0; sweep < 60 && !broken; ++sweep) {
      sp::f64 rotated = 0;
      for (sp::i64 round = 0; round < players - 1; ++round) {
        __syncthreads();
        for (sp::i64 first = 0; first < half; first += groups) {
          const sp::i64 t = first + group;
          sp::i64 p = 0, q = lines;
          if (t < half) sp::pair_of(players, round, t, p, q);
          const sp::f64 *const x = g + p * length, *const y = g + q * length;
          const sp::i64 size = q < lines ? length : 0;
          const sp::f64 pp = product(x, x, size), qq = product(y, y, size);
          const sp::f64 pq = product(x, y, size);
          const bool long_enough = pp >= 0x1p-900 && qq >= 0x1p-900;
          sp::f64 c = 1, s = 0;
          if (long_enough && sp::magnitude(pq) > least * (::sqrt(pp) * ::sqrt(qq))) {
            sp::rotation_of(pp, qq, pq, c, s);
            rotated = 1;
          }
          if (lane == 0 && t < half) {
            rotations[2 * t] = c;
            rotations[2 * t + 1] = s;
          }
        }
        __syncthreads();
        sp::each(half * (length + lines), [&](sp::i64 e) {
          const sp::i64 t = e / (length + lines), j = e % (length + lines);
          sp::i64 p, q;
          sp::pair_of(players, round, t, p, q);
          if (q >= lines) return;
          if (j < length)
            sp::rotate(rotations, t, g[p * length + j], g[q * length + j]);
          else
            sp::rotate(rotations, t, v[p * lines + j - length], v[q * lines + j - length]);
        });
      }
      if (sp::block_max(rotated) == 0) break;
    }
    __syncthreads();
    for (sp::i64 first = 0; first < lines; first += groups) {
      const sp::i64 i = first + group;
      const sp::f64* const x = g + (i < lines ? i * length : 0);
      const sp::f64 squares = product(x, x, i < lines ? length : 0);
      if (lane == 0 && i < lines) norms[i] = ::sqrt(squares);
    }
    __syncthreads();
    sp::each(lines, [&](sp::i64 i) {
      sp::i64 place = broken ? i : 0;
      for (sp::i64 j = 0; j < lines && !broken; ++j) {
        if (norms[j] > norms[i] || (norms[j] == norms[i] && j < i)) ++place;
      }
      order[place] = sp::f64(i);
      const C s = broken ? sp::quiet_nan<C>() : C(norms[i] / scale);
      singular[matrix * lines + place] = sp::narrow<T>(s);
    });
    if (vectors == 0) continue;
    sp::f64 known_here = 0;
    sp::each(lines, [&](sp::i64 i) { known_here += norms[i] >= 0x1p-450 ? 1 : 0; });
    const sp::i64 known = broken ? left : sp::i64(sp::block_sum(known_here));
    sp::each(known * length, [&](sp::i64 i) {
      const sp::i64 line = broken ? 0 : sp::i64(order[i / length]);
      u[i] = broken ? 0.0 : g[line * length + i % length] / norms[line];
    });
    // What is missing of an orthonormal basis begins with the axis that the others have least of.
    for (sp::i64 r = known; r < left; ++r) {
      __syncthreads();
      sp::f64 rest = -1;
      sp::i64 at = 0;
      sp::each(length, [&](sp::i64 j) {
        sp::f64 share = 1;
        for (sp::i64 k = 0; k < r; ++k) share -= u[k * length + j] * u[k * length + j];
        if (share > rest) rest = share, at = j;
      });
      const sp::i64 axis = sp::place_of_largest(rest, at, 0);
      sp::f64* const x = u + r * length;
      sp::each(length, [&](sp::i64 j) { x[j] = j == axis ? 1.0 : 0.0; });
      for (int turn = 0; turn < 2; ++turn) {
        __syncthreads();
        sp::each(r, [&](sp::i64 k) {
          sp::f64 sum = 0;
          for (sp::i64 j = 0; j < length; ++j) sum += u[k * length + j] * x[j];
          parts[k] = sum;
        });
        __syncthreads();
        sp::each(length, [&](sp::i64 j) {
          sp::f64 sum = 0;
          for (sp::i64 k = 0; k < r; ++k) sum += parts[k] * u[k * length + j];
          x[j] -= sum;
        });
      }
      __syncthreads();
      sp::f64 squares = 0;
      sp::each(length, [&](sp::i64 j) { squares += x[j] * x[j]; });
      const sp::f64 norm = ::sqrt(sp::block_sum(squares));
      sp::each(length, [&](sp::i64 j) { x[j] /= norm; });
    }
    __syncthreads();
    sp::each(lines, [&](sp::i64 r) {
      const sp::f64* const x = wide != 0 ? v + sp::i64(order[r]) * lines : u + r * length;
      signs[r] = sp::needs_flip(x, wide != 0 ? lines : length) ? -1.0 : 1.0;
    });
    __syncthreads();
    // Vector r of those of `length` numbers, and of the others.
    const auto long_one = [&](sp::i64 r, sp::i64 j) {
      return broken ? sp::quiet_nan<C>() : C((r < lines ? signs[r] : 1.0) * u[r * length + j]);
    };
    const auto short_one = [&](sp::i64 r, sp::i64 j) {
      return broken ? sp::quiet_nan<C>() : C(signs[r] * v[sp::i64(order[r]) * lines + j]);
    };
    sp::each(left * length, [&](sp::i64 i) {
      const C x = wide != 0 ? long_one(i / length, i % length) : long_one(i % left, i / left);
      long_ones[matrix * left * length + i] = sp::narrow<T>(x);
    });
    sp::each(lines * lines, [&](sp::i64 i) {
      const C x = wide != 0 ? short_one(i % lines, i / lines) : short_one(i / lines, i % lines);
      short_ones[matrix * lines * lines + i] = sp::narrow<T>(x);
    });
)cuda";

Kernels make_svd(const PrepareArgs& a) {
  Kernels out;
  const auto& p = a.params.get<SvdParams>();
  const Shape& shape = a.in[0]->shape;
  const int64_t m = shape[shape.rank() - 2], n = shape.back();
  const bool wide = m < n;
  const int64_t lines = std::min(m, n), length = std::max(m, n);
  const int64_t left = !p.vectors ? 0 : p.full ? length : lines;
  bool some = false;
  for (const Aval* y : a.out) some = some || y->numel() > 0;
  if (!some) return out;
  KernelBuilder kernel("svd", a);
  kernel.front(shuffle_prelude());
  (void)kernel.input(0);
  const std::string s = kernel.output(p.vectors ? 1 : 0);
  const std::string u = p.vectors ? kernel.output(0) : s, vt = p.vectors ? kernel.output(2) : s;
  kernel.begin("  auto* const singular = " + s + ";\n  auto* const long_ones = " + (wide ? vt : u) +
               ";\n  auto* const short_ones = " + (wide ? u : vt) + ";\n");
  kernel.values({{"lines", lines},
                 {"length", length},
                 {"left", left},
                 {"wide", wide},
                 {"vectors", p.vectors}});
  const int64_t numbers = lines * length + lines * lines + left * length + 4 * lines + 1 + left;
  out.steps.push_back(
      matrix_launch(kernel, out, a, rules::MatrixBatch(shape).count, numbers, kSvd));
  return out;
}

}  // namespace

extern const Twin svd_twin = {&svd_p, make_svd};

}  // namespace spruce::cuda
