// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/matrices.h"

#include <algorithm>

#include "spruce/core/rules/decompositions.h"

namespace spruce::cuda {
namespace {

// Matrices at once: each has memory of its own. Large ones are fewer, but one a multiprocessor.
constexpr int64_t kMostMatrices = 1024, kFewMatrices = 128;
constexpr int64_t kMostNumbers = int64_t{1} << 25;  // 256 MiB, where they are more than a few

constexpr std::string_view kPrelude = R"cuda(
namespace sp {
// f(i) for i in 0..n - 1, each by one thread of the block.
template <class F> SP_MEMBER void each(i64 n, const F& f) {
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) f(i);
}
template <class F> SP_MEMBER f64 over_block(f64 x, const F& join) {
  __shared__ f64 shared[256];
  shared[threadIdx.x] = x;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const f64 all = shared[0];
  __syncthreads();
  return all;
}
SP_MEMBER f64 block_sum(f64 x) {
  return over_block(x, [](f64 a, f64 b) { return a + b; });
}
SP_MEMBER f64 block_max(f64 x) {
  return over_block(x, [](f64 a, f64 b) { return a < b ? b : a; });
}
SP_MEMBER f64 magnitude(f64 x) { return x < 0 ? -x : x; }
SP_MEMBER f64 power_of_two_near(f64 x) {
  f64 power = 1;
  while (x * power >= 2) power *= 0.5;
  while (x > 0 && x * power < 1 && power < 0x1p1000) power *= 2;
  return power;
}
// The largest magnitude of n numbers; infinity where one of them is infinite or NaN.
SP_MEMBER f64 largest_of(const f64* x, i64 n, i64 step) {
  f64 largest = 0, broken = 0;
  each(n, [&](i64 i) {
    const f64 m = magnitude(x[i * step]);
    if (m > largest) largest = m;
    if (!(m <= 0x1.fffffffffffffp1023)) broken = 1;
  });
  return block_max(broken) > 0 ? infinity<f64>() : block_max(largest);
}
// Where the largest of all threads' numbers stands, the first of equal ones; `none` where it is NaN.
SP_MEMBER i64 place_of_largest(f64 x, i64 at, i64 none) {
  const f64 most = block_max(x);
  if (!(most == most)) return none;
  return i64(-block_max(x == most ? -f64(at) : -0x1p62));
}
// Whether the opposite of a vector is to be given (rules::kSignShare).
SP_MEMBER bool needs_flip(const f64* x, i64 n) {
  f64 largest = 0;
  for (i64 i = 0; i < n; ++i) {
    const f64 m = magnitude(x[i]);
    if (m > largest) largest = m;
  }
  for (i64 i = 0; i < n; ++i) {
    if (magnitude(x[i]) >= sign_share * largest) return x[i] < 0;
  }
  return false;
}
// Pair t of round r of a tournament of an even number of players; each two meet once in players - 1
// rounds. The first is smaller than the second.
SP_MEMBER void pair_of(i64 players, i64 r, i64 t, i64& p, i64& q) {
  const i64 others = players - 1;
  p = t == 0 ? others : (r + t) % others;
  q = (r + others - t) % others;
  if (p > q) {
    const i64 s = p;
    p = q, q = s;
  }
}
// The rotation (c, s) that makes p and q orthogonal, from their squares and their product: p
// becomes c p - s q, and q becomes s p + c q.
SP_MEMBER void rotation_of(f64 pp, f64 qq, f64 pq, f64& c, f64& s) {
  const f64 cotangent = (qq - pp) / (2 * pq);
  const f64 t = (cotangent < 0 ? -1.0 : 1.0) /
                (magnitude(cotangent) + ::sqrt(1 + cotangent * cotangent));
  const f64 root = ::sqrt(1 + t * t);
  c = 1 - t * t / (root * (1 + root));
  s = t / root;
}
// Applies rotation t of a list of (c, s).
SP_MEMBER void rotate(const f64* rotations, i64 t, f64& x, f64& y) {
  const f64 c = rotations[2 * t], s = rotations[2 * t + 1], before = x;
  x = c * before - s * y;
  y = s * before + c * y;
}
}  // namespace sp
)cuda";

}  // namespace

Launch matrix_launch(KernelBuilder& kernel, Kernels& out, const PrepareArgs& a, int64_t count,
                     int64_t numbers, std::string_view body) {
  const int64_t fit = kMostNumbers / std::max<int64_t>(numbers, 1);
  const int64_t blocks = std::min(count, std::clamp(fit, kFewMatrices, kMostMatrices));
  const Dtype dtype = a.in[0]->dtype;
  kernel.front("namespace sp {\nconstexpr f64 sign_share = " +
               literal(Dtype::kFloat64, rules::kSignShare) + ";\n}\n");
  kernel.front(kPrelude);
  kernel.workspace("sp::f64", "all_memory", 0);
  kernel.values({{"count", count}, {"numbers", numbers}});
  out.workspace_bytes = blocks * numbers * static_cast<int64_t>(sizeof(double));
  std::string text = "  using T = " + std::string(text_type(dtype)) +
                     ";\n  using C = " + std::string(compute_type(dtype)) +
                     ";\n  sp::f64* const memory = all_memory + blockIdx.x * numbers;\n"
                     "  for (sp::i64 matrix = blockIdx.x; matrix < count; matrix += gridDim.x) {\n"
                     "    __syncthreads();\n";
  text += body;
  text += "  }\n";
  return kernel.launch(text, {.x = blocks}, {.x = kThreads});
}

}  // namespace spruce::cuda
