// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm_integer.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr double kPlain = 1 << 10;  // multiply-adds up to which tiles do not pay
constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockPanels = 2;
constexpr int64_t kDepth = 256;    // rows of a panel of b that stays in the first cache
constexpr int64_t kPanel = 32768;  // and its bytes
constexpr int64_t kFewRows = 8;    // for which b is read where it is

// What a product is computed in: unsigned, and wide enough not to become an int.
template <class U>
using Wide = std::conditional_t<sizeof(U) < 4, uint32_t, U>;

// Tiles of 1, 2, 4 and `rows` rows of `columns` columns.
template <class U>
struct Tiles {
  static constexpr int kMaxRows = 8;
  int columns, rows;
  void (*tile[4])(int64_t k, const U* a, int64_t a_row, int64_t a_col, const U* b, int64_t b_row,
                  U* c, int64_t c_row, bool add);
  U (*dot)(int64_t k, const U* a, const U* b);
};

namespace base {
constexpr int kBytes = 16, kRows = 4;
#define SPRUCE_TILE_TARGET
#include "spruce/core/cpu/gemm/gemm_integer.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace base

#if SPRUCE_HAS_X86_TARGETS

namespace v3 {
constexpr int kBytes = 32, kRows = 4;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V3
#include "spruce/core/cpu/gemm/gemm_integer.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v3

namespace v4 {
constexpr int kBytes = 64, kRows = 8;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V4
#include "spruce/core/cpu/gemm/gemm_integer.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v4

#endif

template <class U, bool kLogic>
const Tiles<U>& tiles() {
#if SPRUCE_HAS_X86_TARGETS
  static const Tiles<U>* const best =
      pick(&base::kTiles<U, kLogic>, &v3::kTiles<U, kLogic>, &v4::kTiles<U, kLogic>);
  return *best;
#else
  return base::kTiles<U, kLogic>;
#endif
}

template <class U, bool kLogic>
class Product {
 public:
  explicit Product(const Gemm& g)
      : g_(g),
        tiles_(tiles<U, kLogic>()),
        a_(static_cast<const U*>(g.a)),
        b_(static_cast<const U*>(g.b)),
        c_(static_cast<U*>(g.c)) {}

  void plain() const {
    for (int64_t i = 0; i < g_.m; ++i) {
      U* const c = c_ + i * g_.c_row;
      if (!g_.accumulate) std::fill_n(c, g_.n, U{0});
      for (int64_t p = 0; p < g_.k; ++p) {
        const U x = a_[i * g_.a_row + p * g_.a_col];
        const U* y = b_ + p * g_.b_row;
        for (int64_t j = 0; j < g_.n; ++j) c[j] = with(c[j], x, y[j * g_.b_col]);
      }
    }
  }

  void column() const {
    const auto grain = static_cast<int64_t>(kThread / static_cast<double>(g_.k + 1)) + 1;
    parallel_pieces(g_.m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        U& c = c_[i * g_.c_row];
        const U sum = tiles_.dot(g_.k, a_ + i * g_.a_row, b_);
        c = g_.accumulate ? with(c, sum, 1) : sum;
      }
    });
  }

  void blocked() const {
    const int64_t columns = tiles_.columns * kBlockPanels;
    const int64_t down = (g_.m + kBlockRows - 1) / kBlockRows,
                  across = (g_.n + columns - 1) / columns;
    const double each = static_cast<double>(std::min(g_.m, kBlockRows) * std::min(g_.n, columns)) *
                        static_cast<double>(g_.k);
    const auto grain = static_cast<int64_t>(kThread / std::max(each, 1.0)) + 1;
    parallel_pieces(down * across, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / across * kBlockRows, j = t % across * columns;
        block(i, std::min(g_.m, i + kBlockRows), j, std::min(g_.n, j + columns));
      }
    });
  }

 private:
  static U with(U sum, U x, U y) {
    return static_cast<U>(kLogic ? sum | (x & y) : sum + static_cast<Wide<U>>(x) * y);
  }

  void block(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    alignas(64) U packed[kPanel / sizeof(U)];
    const bool direct = g_.b_col == 1 && i1 - i0 <= kFewRows;
    for (int64_t j = j0; j < j1; j += tiles_.columns) {
      const int64_t width = std::min<int64_t>(tiles_.columns, j1 - j);
      for (int64_t p = 0; p == 0 || p < g_.k; p += kDepth) {
        const int64_t depth = std::min(kDepth, g_.k - p);
        const U* const from = b_ + p * g_.b_row + j * g_.b_col;
        const bool add = g_.accumulate || p > 0;
        if (direct && width == tiles_.columns) {
          rows(i0, i1, j, width, p, depth, from, g_.b_row, add);
        } else {
          pack(from, depth, width, packed);
          rows(i0, i1, j, width, p, depth, packed, tiles_.columns, add);
        }
      }
    }
  }

  void pack(const U* from, int64_t depth, int64_t width, U* to) const {
    for (int64_t p = 0; p < depth; ++p, from += g_.b_row, to += tiles_.columns) {
      for (int64_t j = 0; j < width; ++j) to[j] = from[j * g_.b_col];
      std::fill(to + width, to + tiles_.columns, U{0});
    }
  }

  // Rows i0..i1 of one panel.
  void rows(int64_t i0, int64_t i1, int64_t j, int64_t width, int64_t p, int64_t depth, const U* b,
            int64_t b_row, bool add) const {
    U whole[Tiles<U>::kMaxRows * 128 / sizeof(U)] = {};
    for (int64_t i = i0; i < i1;) {
      const int64_t left = i1 - i;
      const int form = left >= tiles_.rows ? 3 : left >= 4 ? 2 : left >= 2 ? 1 : 0;
      const int64_t high = form == 3 ? tiles_.rows : 1 << form;
      const U* const a = a_ + i * g_.a_row + p * g_.a_col;
      U* const c = c_ + i * g_.c_row + j;
      if (width == tiles_.columns) {
        tiles_.tile[form](depth, a, g_.a_row, g_.a_col, b, b_row, c, g_.c_row, add);
      } else {
        for (int64_t r = 0; add && r < high; ++r)
          std::copy_n(c + r * g_.c_row, width, whole + r * tiles_.columns);
        tiles_.tile[form](depth, a, g_.a_row, g_.a_col, b, b_row, whole, tiles_.columns, add);
        for (int64_t r = 0; r < high; ++r)
          std::copy_n(whole + r * tiles_.columns, width, c + r * g_.c_row);
      }
      i += high;
    }
  }

  const Gemm& g_;
  const Tiles<U>& tiles_;
  const U* a_;
  const U* b_;
  U* c_;
};

template <class T>
struct Unsigned {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Unsigned<bool> {
  using type = uint8_t;
};

}  // namespace

template <class T>
void gemm_integer(const Gemm& g) {
  const Product<typename Unsigned<T>::type, std::is_same_v<T, bool>> product(g);
  if (is_rows_by_column(g))
    product.column();
  else if (work(g) < kPlain)
    product.plain();
  else
    product.blocked();
}

template void gemm_integer<bool>(const Gemm&);
template void gemm_integer<int8_t>(const Gemm&);
template void gemm_integer<int16_t>(const Gemm&);
template void gemm_integer<int32_t>(const Gemm&);
template void gemm_integer<int64_t>(const Gemm&);
template void gemm_integer<uint8_t>(const Gemm&);
template void gemm_integer<uint16_t>(const Gemm&);
template void gemm_integer<uint32_t>(const Gemm&);
template void gemm_integer<uint64_t>(const Gemm&);

}  // namespace spruce::cpu
