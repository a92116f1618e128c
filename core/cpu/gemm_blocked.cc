// SPDX-License-Identifier: Apache-2.0
// c is computed in blocks of kDepth of the sum. For each, b is packed into panels as wide as a
// tile, and a into panels as high as one; then tiles go down the panels of a, the panel of b
// staying in the nearest cache.
#include "spruce/core/cpu/gemm_blocked.h"

#include <algorithm>

#include "spruce/core/cpu/gemm_pack.h"
#include "spruce/core/cpu/gemm_tiles.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/scratch.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kDepth = 384;       // of a block of the sum
constexpr int64_t kColumns = 1024;    // of b in one block
constexpr int64_t kRows = 168;        // of a in one block
constexpr double kSmall = 1 << 24;    // multiply-adds below which a and b are read where they are
constexpr double kThreads = 1 << 20;  // multiply-adds that are worth a thread

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class T>
class Blocked {
 public:
  explicit Blocked(const Gemm& g)
      : g_(g),
        a_(static_cast<const T*>(g.a)),
        b_(static_cast<const T*>(g.b)),
        c_(static_cast<T*>(g.c)),
        tiles_(gemm_tiles<T>()) {
    width_ = 2 * tiles_.lanes;
    // Panels of a of equal heights.
    const int64_t panels = ceil_div(g.m, tiles_.rows);
    height_ = ceil_div(g.m, panels);
  }

  void run() {
    const double work =
        static_cast<double>(g_.m) * static_cast<double>(g_.n) * static_cast<double>(g_.k);
    const bool small = work <= kSmall;
    read_a_ = small || g_.n <= 2 * width_;
    read_b_ = g_.b_col == 1 && (small || g_.m <= 2 * height_);
    const int64_t depth = std::min(kDepth, g_.k),
                  columns = std::min(kColumns, round_up(g_.n, width_));
    const Scratch b_memory(read_b_ ? 0 : static_cast<size_t>(depth * columns) * sizeof(T));
    b_pack_ = b_memory.template as<T>();
    for (int64_t j = 0; j < g_.n; j += kColumns) {
      const int64_t n = std::min(kColumns, g_.n - j);
      for (int64_t p = 0; p < g_.k; p += kDepth) block(j, n, p, std::min(kDepth, g_.k - p), work);
    }
  }

 private:
  static int64_t round_up(int64_t x, int64_t to) { return ceil_div(x, to) * to; }

  // Columns j0..j0+n of c gain the sum over p0..p0+k.
  void block(int64_t j0, int64_t n, int64_t p0, int64_t k, double work) {
    const int64_t panels = ceil_div(n, width_);
    const auto pack_b = [&](int64_t begin, int64_t end) {
      if (read_b_) return;
      for (int64_t q = begin; q < end; ++q) {
        const int64_t count = std::min(width_, n - q * width_);
        gemm_pack(b_ + (j0 + q * width_) * g_.b_col + p0 * g_.b_row, g_.b_col, g_.b_row, count, k,
                  width_, b_pack_ + q * width_ * k);
      }
    };
    const int64_t row_blocks = ceil_div(g_.m, block_rows());
    if (work < 2 * kThreads || threads() == 1) {
      pack_b(0, panels);
      for (int64_t i = 0; i < row_blocks; ++i) rows(i * block_rows(), j0, n, p0, k, 0, panels);
      return;
    }
    parallel_each(panels, pack_b);
    // Row blocks times groups of panels, enough for all threads.
    const int64_t groups =
        std::min(panels, std::max<int64_t>(1, ceil_div(2 * threads(), row_blocks)));
    parallel_each(row_blocks * groups, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task / groups, q = task % groups;
        rows(i * block_rows(), j0, n, p0, k, q * panels / groups, (q + 1) * panels / groups);
      }
    });
  }

  // parallel_for in steps of one.
  template <class F>
  static void parallel_each(int64_t n, const F& f) {
    parallel_for(n * 64, 64, [&](int64_t begin, int64_t end) { f(begin / 64, ceil_div(end, 64)); });
  }

  int64_t block_rows() const { return std::max<int64_t>(1, kRows / height_) * height_; }

  // A block of rows, times the panels first..last of b.
  void rows(int64_t i0, int64_t j0, int64_t n, int64_t p0, int64_t k, int64_t first, int64_t last) {
    const int64_t m = std::min(block_rows(), g_.m - i0), panels = ceil_div(m, height_);
    const Scratch a_memory(read_a_ ? 0 : static_cast<size_t>(panels * height_ * k) * sizeof(T));
    T* const a_pack = a_memory.template as<T>();
    for (int64_t r = 0; r < panels && !read_a_; ++r) {
      const int64_t i = i0 + r * height_;
      gemm_pack(a_ + i * g_.a_row + p0 * g_.a_col, g_.a_row, g_.a_col, std::min(height_, g_.m - i),
                k, height_, a_pack + r * height_ * k);
    }
    for (int64_t q = first; q < last; ++q) {
      const int64_t j = j0 + q * width_, count = std::min(width_, j0 + n - j);
      const T* b = b_pack_ + q * width_ * k;
      int64_t b_row = width_;
      if (read_b_) b = b_ + j + p0 * g_.b_row, b_row = g_.b_row;
      const int vectors = count > tiles_.lanes ? 2 : 1;
      for (int64_t r = 0; r < panels; ++r) {
        const int64_t i = i0 + r * height_, high = std::min(height_, g_.m - i);
        const T* a = a_pack + r * height_ * k;
        int64_t a_row = 1, a_col = height_;
        if (read_a_) a = a_ + i * g_.a_row + p0 * g_.a_col, a_row = g_.a_row, a_col = g_.a_col;
        const bool add = p0 > 0 || g_.accumulate;
        tiles_.tile(high, vectors, a_row == 1)(k, a, a_row, a_col, b, b_row, c_ + i * g_.c_row + j,
                                               g_.c_row, add, count);
      }
    }
  }

  const Gemm& g_;
  const T* a_;
  const T* b_;
  T* c_;
  const GemmTiles<T>& tiles_;
  int64_t width_, height_;
  bool read_a_ = false, read_b_ = false;
  T* b_pack_ = nullptr;
};

}  // namespace

template <class T>
void gemm_blocked(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    auto* const c = static_cast<T*>(g.c);
    for (int64_t i = 0; i < g.m && !g.accumulate; ++i)
      std::fill(c + i * g.c_row, c + i * g.c_row + g.n, T{});
    return;
  }
  Blocked<T>(g).run();
}

template void gemm_blocked<float>(const Gemm& g);
template void gemm_blocked<double>(const Gemm& g);

}  // namespace spruce::cpu
