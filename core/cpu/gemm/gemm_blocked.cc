// SPDX-License-Identifier: Apache-2.0
// c is computed in blocks of the sum and in groups of columns, tile by tile. Two orders, by the
// size of the block of a:
// - A flat one stays in the second cache and the columns of b pass by it, a few panels as wide as a
//   tile at a time. Where all of them stay there too, or a is very flat, rows of b are read where
//   they are, since each element is used few times; those of bf16 by twos.
// - Else a group of columns of b, packed into such panels, stays there and the rows pass by it, a
//   panel as high as a tile at a time, which stays in the first cache. Panels are packed while the
//   first group meets them and kept for the others. Dense rows of b are packed by the first tiles
//   that read them, whose units for stores are idle.
// What comes next is fetched while the tiles before it are computed.
#include "spruce/core/cpu/gemm/gemm_blocked.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/gemm/gemm_pack.h"
#include "spruce/core/cpu/gemm/gemm_parts.h"
#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

using simd::Bf16Pair;

constexpr int64_t kDepth = 512;        // units of a block of a sum, at most
constexpr int64_t kFlat = 65536;       // elements of a flat block of a
constexpr int64_t kPanels = 4;         // of columns of b that pass by a flat block together
constexpr int64_t kGroup = 128 << 10;  // elements of a group of columns of b
constexpr int64_t kWhere = 256 << 10;  // of one that is read where it is
constexpr int64_t kKept = 1 << 20;     // elements of a that stay packed for all groups
constexpr int64_t kBatch = 4;          // panels of a transposed a that are packed together
constexpr int64_t kUnits = 16;         // of them at a time
constexpr int64_t kLate = 6;      // panels of a during which the next columns of b are fetched:
                                  // earlier ones would be gone from the second cache again
constexpr int64_t kWide = 640;    // columns from which it pays to pack rows of a that
                                  // could be read where they are
constexpr int64_t kNarrow = 128;  // columns (rows) up to which a transposed a (b) may change sides
constexpr int64_t kFlatRows = 8;  // rows from which b may
constexpr int64_t kLong = 256;    // terms from which it pays to turn the result: half, for b
constexpr int64_t kElements = 65536;  // to turn that are worth a thread
constexpr int64_t kAlias = 4096;      // bytes between rows that meet in the same cache lines
constexpr int64_t kPairColumns = 32;  // of the tiles of pairs

bool aliased(int64_t row, size_t size) { return row * static_cast<int64_t>(size) % kAlias == 0; }

// What tiles read for elements of type T.
template <class T>
using Unit = std::conditional_t<std::is_same_v<T, Bfloat16>, Bf16Pair, T>;

template <class T>
constexpr int64_t kTerms = GemmUnit<Unit<T>>::kTerms;

// Panels of a for which packing b does not pay, however large it is.
template <class T>
constexpr int64_t kFew = kTerms<T> == 1 ? 3 : 1;

// Blocks of a sum.
template <class T>
int64_t depths(int64_t k) {
  return ceil_div(ceil_div(k, kTerms<T>), kDepth);
}

// T: the elements.
template <class T>
class Blocked {
 public:
  using U = Unit<T>;
  using Sum = GemmSum<U>;
  static constexpr bool kPairs = std::is_same_v<U, Bf16Pair>;

  // `sums`, for pairs: where those of several blocks are kept, sums_row elements from row to row.
  explicit Blocked(const Gemm& g, float* sums = nullptr, int64_t sums_row = 0)
      : g_(g),
        a_(static_cast<const T*>(g.a)),
        b_(static_cast<const T*>(g.b)),
        c_(static_cast<T*>(g.c)),
        sums_(sums),
        sums_row_(sums_row),
        tiles_(gemm_tiles<U>()),
        width_(2 * tiles_.lanes),
        panels_(ceil_div(g.m, tiles_.rows)),
        units_(ceil_div(g.k, kTerms<T>)),
        depths_(depths<T>(g.k)) {
    const int64_t depth = ceil_div(units_, depths_), across = ceil_div(g.n, width_) * width_;
    flat_ = g.m * depth <= kFlat;
    const auto group_of = [&](int64_t size) {
      return ceil_div(across, ceil_div(across * depth, size) * width_) * width_;
    };
    dense_b_ = g.b_col == 1 && g.k % kTerms<T> == 0;
    read_b_ = flat_ && dense_b_ && (across * depth <= kWhere || panels_ <= kFew<T>);
    group_ = read_b_ ? group_of(kWhere) : flat_ ? kPanels * width_ : group_of(kGroup);
    const bool dense_a = g.a_col == 1 && g.n <= kWide && !aliased(g.a_row, sizeof(T));
    if (kPairs)
      read_a_ = dense_a && g.k % 2 == 0 && (g.a_row % 2 == 0 || g.m == 1);
    else
      read_a_ = g.a_row == 1 ? g.n <= width_ : dense_a;
    batch_ = flat_ ? panels_ : g.a_row == 1 ? std::min(kBatch, panels_) : 1;
    keep_a_ = !flat_ && !read_a_ && group_ < g.n && g.m * depth <= kKept;
    a_size_ = read_a_ ? 0 : (keep_a_ ? g.m : std::min(g.m, batch_ * tiles_.rows)) * depth;
    a_size_ = ceil_div(a_size_, 16) * 16;
    b_size_ = read_b_ ? 0 : group_ * depth;
  }

  void run() const {
    U* const a_pack = static_cast<U*>(packed_memory(bytes_of<U>(a_size_ + b_size_)));
    U* const b_pack = a_pack + a_size_;
    for (int64_t d = 0; d < depths_; ++d) {
      if (flat_ && !read_a_) pack_a(0, d, a_pack);
      for (int64_t j = 0; j < g_.n; j += group_) group(j, d, a_pack, b_pack);
    }
  }

 private:
  int64_t row(int64_t panel) const { return panel * g_.m / panels_; }
  int64_t unit(int64_t d) const { return d * units_ / depths_; }
  int64_t units(int64_t d) const { return unit(d + 1) - unit(d); }
  int64_t term(int64_t d) const { return std::min(g_.k, unit(d) * kTerms<T>); }
  int64_t terms(int64_t d) const { return term(d + 1) - term(d); }
  int64_t columns(int64_t j) const { return std::min(group_, g_.n - j); }
  const T* a_at(int64_t r, int64_t d) const { return a_ + row(r) * g_.a_row + term(d) * g_.a_col; }
  const T* b_at(int64_t j, int64_t d) const { return b_ + j * g_.b_col + term(d) * g_.b_row; }

  // A batch of panels that begins with r0. Where a is transposed, neighbours share lines of the
  // cache: they are packed together, a few terms at a time.
  void pack_a(int64_t r0, int64_t d, U* to) const {
    const int64_t end = std::min(r0 + batch_, panels_), k = units(d), all = terms(d);
    const int64_t step = g_.a_row == 1 ? kUnits : k;
    for (int64_t p = 0; p < k; p += step) {
      const int64_t first = p * kTerms<T>, count = std::min(step * kTerms<T>, all - first);
      for (int64_t r = r0; r < end; ++r) {
        const int64_t high = row(r + 1) - row(r);
        const T* const from = a_at(r, d) + first * g_.a_col;
        U* const panel = to + (row(r) - row(r0)) * k + p * high;
        gemm_pack(from, g_.a_row, g_.a_col, high, count, high, panel);
      }
    }
  }

  static Ahead ahead(const T* at, int64_t rows, int64_t row, int64_t columns, int64_t column) {
    if (row == 1) std::swap(rows, columns), std::swap(row, column);
    if (column != 1) return {};
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    return {at, columns * kSize, row * kSize, rows};
  }
  Ahead ahead_b(int64_t j, int64_t d) const {
    if (j >= g_.n) j = 0, ++d;
    if (d == depths_) return {};
    return ahead(b_at(j, d), terms(d), g_.b_row, columns(j), g_.b_col);
  }
  Ahead ahead_a(int64_t r, int64_t j, int64_t d, const U* packed) const {
    if (flat_) return {};
    if (r >= panels_) r = 0, j += group_;
    if (j >= g_.n) j = 0, ++d;
    if (d == depths_) return {};
    const int64_t high = row(std::min(r + batch_, panels_)) - row(r);
    if (keep_a_ && j > 0) {
      const int64_t k = units(d), bytes = high * k * static_cast<int64_t>(sizeof(U));
      return {packed + row(r) * k, bytes, bytes, 1};
    }
    return ahead(a_at(r, d), high, g_.a_row, terms(d), g_.a_col);
  }

  // Runs f(c, c_row) for the sums of a tile. Those of pairs are rounded to c after their last
  // block.
  template <class F>
  void sum(int64_t i, int64_t high, int64_t j, int64_t count, int64_t d, const F& f) const {
    T* const c = c_ + i * g_.c_row + j;
    if constexpr (kPairs) {
      alignas(64) float tile[GemmTiles<U>::kMaxRows * kPairColumns];
      float* const sums = sums_ == nullptr ? tile : sums_ + i * sums_row_ + j;
      const int64_t sums_row = sums_ == nullptr ? kPairColumns : sums_row_;
      f(sums, sums_row);
      if (d + 1 == depths_) round_tile(sums, sums_row, high, count, c, g_.c_row);
    } else {
      f(c, g_.c_row);
    }
  }

  // The columns from j0 on gain the block d of their sums.
  void group(int64_t j0, int64_t d, U* a_pack, U* b_pack) const {
    const int64_t k = units(d), n = columns(j0);
    const bool add = d > 0 || g_.accumulate, dense = !read_a_ || g_.a_row == 1;
    Ahead a_next, b_next = read_b_ ? Ahead() : ahead_b(j0 + group_, d), none;
    for (int64_t r = 0; r < panels_; ++r) {
      const int64_t i = row(r), high = row(r + 1) - i;
      const int64_t r0 = r - r % batch_;
      const bool first = r == r0;
      U* const batch = a_pack + (keep_a_ ? row(r0) * k : 0);
      if (first && !flat_ && !read_a_ && (j0 == 0 || !keep_a_)) pack_a(r, d, batch);
      const U* const a =
          read_a_ ? reinterpret_cast<const U*>(a_at(r, d)) : batch + (i - row(r0)) * k;
      const int64_t a_row = read_a_ ? g_.a_row / (kPairs ? 2 : 1) : 1,
                    a_col = read_a_ ? g_.a_col : high;
      if (first) a_next = ahead_a(r + batch_, j0, d, a_pack);
      for (int64_t j = 0; j < n; j += width_) {
        const int64_t count = std::min(width_, n - j);
        const T* const from = b_at(j0 + j, d);
        Ahead& next = !a_next.done() ? a_next : r + kLate < panels_ ? none : b_next;
        sum(i, high, j0 + j, count, d, [&](Sum* c, int64_t c_row) {
          U* const panel = b_pack + j * k;
          const U* const rows = reinterpret_cast<const U*>(from);
          if (read_b_) {
            tiles_.in_place(high, count, dense)(k, a, a_row, a_col, rows, g_.b_row, c, c_row, add,
                                                count, next);
          } else if (r == 0 && dense_b_ && count == width_) {
            tiles_.copying[high - 1][dense ? 1 : 0](k, a, a_row, a_col, rows, g_.b_row, c, c_row,
                                                    add, panel, next);
          } else {
            if (r == 0) gemm_pack(from, g_.b_col, g_.b_row, count, terms(d), width_, panel);
            tiles_.tile(high, count, dense)(k, a, a_row, a_col, panel, width_, c, c_row, add, count,
                                            next);
          }
        });
      }
    }
  }

  const Gemm& g_;
  const T* a_;
  const T* b_;
  T* c_;
  float* sums_;
  int64_t sums_row_;
  const GemmTiles<U>& tiles_;
  int64_t width_, panels_, units_, depths_, batch_ = 1, group_ = 0, a_size_ = 0, b_size_ = 0;
  bool flat_ = false, read_a_ = false, keep_a_ = false;
  bool dense_b_ = false, read_b_ = false;
};

// Whether the product of the transposed operands is faster, its result turned in the end, because
// it needs to pack less: the many dense columns of a transposed a are then rows of its right
// operand, those of a transposed b rows of its left one. Terms are added in the same order.
template <class T>
bool sideways(const Gemm& g) {
  if (std::is_same_v<T, Bfloat16> || g.accumulate || g.m < 2 || g.n < 2) return false;
  if (g.a_row == 1 && g.b_col == 1) return g.n <= kNarrow && g.m >= 3 * g.n && g.k >= kLong;
  return g.a_col == 1 && g.b_row == 1 && !aliased(g.b_col, sizeof(T)) && g.m >= kFlatRows &&
         g.m <= kNarrow && g.n >= 4 * g.m && g.k >= std::max(kLong / 2, 4 * g.m);
}

// The step between rows of the transposed result: else they could meet in the same cache lines.
int64_t turned_row(const Gemm& g) { return g.m + 16; }

template <class T>
size_t turned_bytes(const Gemm& g) {
  return bytes_of<T>(g.n * turned_row(g));
}

template <class T>
void turned(const Gemm& g) {
  const int64_t step = turned_row(g);
  const Workspace memory(turned_bytes<T>(g));
  Gemm t = g;
  std::swap(t.m, t.n);
  t.a = g.b, t.a_row = g.b_col, t.a_col = g.b_row;
  t.b = g.a, t.b_row = g.a_col, t.b_col = g.a_row;
  t.c = memory.data(), t.c_row = step;
  gemm_blocked<T>(t);
  static const TransposeLoop loop = transpose_loop(sizeof(T));
  parallel_pieces(g.m, std::max<int64_t>(1, kElements / g.n), [&](int64_t begin, int64_t end) {
    loop(memory.as<T>() + begin, step, static_cast<T*>(g.c) + begin * g.c_row, g.c_row, end - begin,
         g.n);
  });
}

// A dense row of bf16 times a dense column for each element.
void dots_of_pairs(const Gemm& g) {
  constexpr int64_t kRows = 64;
  const auto* const a = static_cast<const Bfloat16*>(g.a);
  const auto* const x = static_cast<const Bfloat16*>(g.b);
  auto* const c = static_cast<Bfloat16*>(g.c);
  const int64_t at_once = g.a_row % 2 == 0 ? kRows : 1;
  const auto grain = static_cast<int64_t>(kThread / static_cast<double>(g.k)) + 1;
  parallel_pieces(g.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += at_once) {
      const int64_t rows = std::min(at_once, end - i);
      float sums[kRows];
      gemm_tiles<Bf16Pair>().dots(rows, g.k / 2, reinterpret_cast<const Bf16Pair*>(a + i * g.a_row),
                                  g.a_row / 2, reinterpret_cast<const Bf16Pair*>(x), sums, 1,
                                  false);
      for (int64_t r = 0; r < rows; ++r) {
        if (g.k % 2 != 0) sums[r] += a[(i + r) * g.a_row + g.k - 1] * x[g.k - 1];
        c[(i + r) * g.c_row] = Bfloat16(sums[r]);
      }
    }
  });
}

// Of several blocks in bf16, from row to row.
template <class T>
size_t sums_bytes(const Gemm& g) {
  if (!std::is_same_v<T, Bfloat16> || depths<T>(g.k) == 1 || is_rows_by_column(g)) return 0;
  return bytes_of(g.m * g.n);
}

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
  if (std::is_same_v<T, Bfloat16> && is_rows_by_column(g)) return dots_of_pairs(g);
  if (sideways<T>(g)) return turned<T>(g);
  const Workspace sums(sums_bytes<T>(g));
  // Each thread computes a part of its own. An element does not depend on the part that it is in.
  const auto& tiles = gemm_tiles<Unit<T>>();
  in_grid<T>(g, tiles.rows, 2 * tiles.lanes, [&](const Gemm& part, int64_t i, int64_t j) {
    Blocked<T>(part, sums.data() == nullptr ? nullptr : sums.as<float>() + i * g.n + j, g.n).run();
  });
}

template <class T>
size_t gemm_blocked_workspace(const Gemm& g) {
  return workspace_size(sideways<T>(g) ? turned_bytes<T>(g) : sums_bytes<T>(g));
}

template size_t gemm_blocked_workspace<float>(const Gemm& g);
template size_t gemm_blocked_workspace<double>(const Gemm& g);
template size_t gemm_blocked_workspace<Bfloat16>(const Gemm& g);
template void gemm_blocked<float>(const Gemm& g);
template void gemm_blocked<double>(const Gemm& g);
template void gemm_blocked<Bfloat16>(const Gemm& g);

}  // namespace spruce::cpu
