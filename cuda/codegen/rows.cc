// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/rows.h"

#include <algorithm>

#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

// The longest rows that a warp, 256 and 512 threads hold. More elements for each thread would leave
// registers for too few threads.
constexpr int64_t kOfWarp = 32 * 32, kOfBlock = kThreads * 16, kOfLargeBlock = 2 * kOfBlock;

constexpr std::string_view kRow = R"cuda(
namespace sp {
// The state of n = 1, 2, 4, ..., 32 threads side by side, for each of them.
template <int n, class S> SP S merge_for_warp(S s) {
#pragma unroll
  for (int by = n / 2; by > 0; by /= 2) s.merge(shuffle_xor(s, by));
  return s;
}
// Row of n elements that `threads` threads share, each of which takes `packs` vectors at once; if
// the row is held, these are all, and stay in registers.
template <class T, int threads, int packs, bool held> struct Row {
  typedef typename Compute<T>::type C;
  static constexpr bool is_held = held;
  static constexpr int width = 16 / int(sizeof(T)), step = threads * width;
  const T* from;
  T* to;
  i64 n;
  bool exists, aligned;
  int begin, turn = 0;
  T pad;
  C values[packs][width];
  char* shared;
  // The row at x, whose result is for y. What vectors have beyond its end is read as `nothing`.
  // Without `is_there` the row is read, and y left alone.
  SP_MEMBER void start(const T* x, T* y, i64 size, bool is_there, C nothing, void* memory) {
    from = x, to = y, n = size, exists = is_there, pad = narrow<T>(nothing), shared = (char*)memory;
    aligned = ((u64(x) | u64(y)) & 15) == 0;
    begin = int(threadIdx.x) % threads * width;
    if constexpr (held) read(begin);
  }
  // `there` neighbours, at most a vector, and `pad`.
  SP_MEMBER void vector(C (&to)[width], const T* x, bool is_aligned, int there) const {
    T elements[width];
    if (is_aligned && there >= width) {
      load<width>(elements, x, true, width);
    } else {
#pragma unroll
      for (int j = 0; j < width; ++j) elements[j] = j < there ? x[j] : pad;
    }
#pragma unroll
    for (int j = 0; j < width; ++j) to[j] = widen(elements[j]);
  }
  // How many of the elements of the vector at k exist: less than 1 beyond the end.
  SP_MEMBER int there(int k) const { return int(n) - k; }
  SP_MEMBER int there(i64 k) const { return n - k < width ? int(n - k) : width; }
  template <class I> SP_MEMBER void read(I k) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      vector(values[p], from + k + p * step, aligned, there(k + p * step));
  }
  // f(k, there, x) for each vector x of this thread, which begins at k, and of which `there`
  // elements exist. Changes of x last if the row is held.
  template <class F> SP_MEMBER void each(const F& f) {
    if constexpr (held) {
#pragma unroll
      for (int p = 0; p < packs; ++p) f(begin + p * step, there(begin + p * step), values[p]);
    } else {
      for (i64 k = begin; k < n; k += packs * step) {
        read(k);
#pragma unroll
        for (int p = 0; p < packs; ++p) f(k + p * step, there(k + p * step), values[p]);
      }
    }
  }
  // The same, and x is what is written.
  template <class F> SP_MEMBER void write(const F& f) {
    each([&](i64 k, int there, C (&x)[width]) {
      f(k, there, x);
      T y[width];
#pragma unroll
      for (int j = 0; j < width; ++j) y[j] = narrow<T>(x[j]);
      if (exists) store<width>(y, to + k, aligned, there);
    });
  }
  // The state of all threads of the row, for each of them. All threads of the block take part;
  // merging must not depend on which of two states comes first.
  template <class S> SP_MEMBER S all(S s) {
    s = merge_for_warp<(threads < 32 ? threads : 32)>(s);
    if constexpr (threads > 32) {
      // By turns, so that nobody writes where others still read.
      S* const states = (S*)(shared + 512 * turn);
      turn ^= 1;
      if (threadIdx.x % 32 == 0) states[threadIdx.x / 32] = s;
      __syncthreads();
      s = merge_for_warp<threads / 32>(states[threadIdx.x % (threads / 32)]);
    }
    return s;
  }
};
}  // namespace sp
)cuda";

}  // namespace

Launch rows_kernel(KernelBuilder& kernel, const PrepareArgs& args, std::string_view nothing,
                   std::string_view body, std::string_view functions) {
  const Aval& x = *args.in[0];
  const int64_t n = x.shape.back(), rows = n == 0 ? 0 : x.numel() / n;
  const int64_t width = 16 / size_of(x.dtype);
  int64_t threads = 1;
  while (threads < 32 && threads * width < n) threads *= 2;
  if (n > kOfWarp) threads = kThreads;
  if (n > kOfBlock) threads = 2 * kThreads;
  const bool held = n <= kOfLargeBlock;
  int64_t packs = held || width > 4 ? 1 : 2;
  while (held && packs * width * threads < n) packs *= 2;
  const int64_t block = std::max(kThreads, threads), per_block = block / threads;

  kernel.front(shuffle_prelude());
  kernel.front(reduce_prelude());
  kernel.front(vector_prelude());
  kernel.front(kRow);
  kernel.front(functions);
  const std::string from = kernel.input(0), to = kernel.output(0);
  kernel.value("n", n);
  kernel.value("rows", rows);
  const std::string text =
      "  typedef " + std::string(text_type(x.dtype)) + " T;\n  typedef " +
      std::string(compute_type(x.dtype)) + " C;\n  typedef sp::Row<T, " + std::to_string(threads) +
      ", " + std::to_string(packs) + ", " + (held ? "true" : "false") +
      "> Row;\n  constexpr int width = Row::width;\n  __shared__ sp::f64 shared[128];\n"
      "  Row row;\n"
      "  for (sp::i64 begin = sp::i64(blockIdx.x) * " +
      std::to_string(per_block) + "; begin < rows;\n       begin += sp::i64(gridDim.x) * " +
      std::to_string(per_block) + ") {\n    const sp::i64 at = begin + threadIdx.x / " +
      std::to_string(threads) + ", offset = (at < rows ? at : rows - 1) * n;\n    row.start(" +
      from + " + offset, " + to + " + offset, n, at < rows, " + std::string(nothing) +
      ", shared);\n" + std::string(body) + "  }\n";
  return kernel.launch(text, {blocks_for(rows, per_block)}, {block});
}

}  // namespace spruce::cuda
