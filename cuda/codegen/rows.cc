// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/rows.h"

#include <algorithm>

namespace spruce::cuda {
namespace {

constexpr int64_t kMostThreads = 1024, kLeastThreads = 256, kMostHeld = 8;

constexpr std::string_view kRow = R"cuda(
namespace sp {
// The state of all n threads of a row, for each of them.
template <int n, class S> SP S merge_for_all(S s, S* shared) {
  s = merge_threads<n>(s, shared);
  if constexpr (n > 32) {
    if (threadIdx.x == 0) shared[0] = s;
    __syncthreads();
    s = shared[0];
    __syncthreads();
  } else if constexpr (n > 1) {
    union Both { S state; u32 words[(sizeof(S) + 3) / 4]; } both;
    for (int i = 0; i < int((sizeof(S) + 3) / 4); ++i) both.words[i] = 0;
    both.state = s;
#pragma unroll
    for (int i = 0; i < int((sizeof(S) + 3) / 4); ++i)
      both.words[i] = __shfl_sync(0xffffffffu, both.words[i], threadIdx.x % 32 / n * n);
    s = both.state;
  }
  return s;
}
// Row of n elements that `threads` threads share; each holds `held` of them, or reads them again.
template <int threads, int held, class T> struct Row {
  typedef typename Compute<T>::type C;
  const T* from;
  i64 n;
  int lane;
  void* shared;
  C values[held > 0 ? held : 1];
  SP_MEMBER void start(const T* x, i64 size, void* memory) {
    from = x, n = size, shared = memory;
    lane = threadIdx.x % threads;
#pragma unroll
    for (int j = 0; j < held; ++j) {
      const i64 k = lane + j * threads;
      values[j] = k < n ? widen(from[k]) : C(0);
    }
  }
  template <class F> SP_MEMBER void each(const F& f) const {
    if constexpr (held > 0) {
#pragma unroll
      for (int j = 0; j < held; ++j) {
        const i64 k = lane + j * threads;
        if (k < n) f(k, values[j]);
      }
    } else {
      for (i64 k = lane; k < n; k += threads) f(k, widen(from[k]));
    }
  }
  template <class S> SP_MEMBER S all(S s) const { return merge_for_all<threads>(s, (S*)shared); }
};
}  // namespace sp
)cuda";

}  // namespace

Launch rows_kernel(KernelBuilder& kernel, const PrepareArgs& args, std::string_view body) {
  const Aval& x = *args.in[0];
  const int64_t n = x.shape.back(), rows = n == 0 ? 0 : x.numel() / n;
  int64_t threads = 1;
  while (threads < 32 && threads < n) threads *= 2;
  if (n > 32 * kMostHeld) threads = kLeastThreads;
  if (n > kLeastThreads * kMostHeld) threads = kMostThreads;
  int64_t held = 1;
  while (held * threads < n) held *= 2;
  if (held > kMostHeld) held = 0;
  const int64_t block = std::max(kLeastThreads, threads), per_block = block / threads;
  const std::string type(text_type(x.dtype)), width = std::to_string(threads);

  kernel.front(reduce_prelude());
  kernel.front(kRow);
  const std::string from = kernel.input(0), to = kernel.output(0);
  kernel.value("n", n);
  kernel.value("rows", rows);
  const std::string text =
      "  typedef " + type + " T;\n  typedef " + std::string(compute_type(x.dtype)) +
      " C;\n  __shared__ sp::f64 shared[64];\n"
      "  for (sp::i64 begin = sp::i64(blockIdx.x) * " +
      std::to_string(per_block) + "; begin < rows;\n       begin += sp::i64(gridDim.x) * " +
      std::to_string(per_block) + ") {\n    const sp::i64 at = begin + threadIdx.x / " + width +
      ";\n    const bool there = at < rows;\n    sp::Row<" + width + ", " + std::to_string(held) +
      ", T> row;\n    row.start(" + from +
      " + (there ? at : rows - 1) * n, n, shared);\n    T* const to = " + to +
      " + (there ? at : rows - 1) * n;\n" + std::string(body) + "  }\n";
  return kernel.launch(text, {blocks_for(rows, per_block)}, {block});
}

}  // namespace spruce::cuda
