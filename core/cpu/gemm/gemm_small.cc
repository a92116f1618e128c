// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm_small.h"

#include <algorithm>
#include <utility>

#include "spruce/core/cpu/gemm/gemm_pack.h"

namespace spruce::cpu {

template <class T>
SmallGemm<T>::SmallGemm(const Gemm& g)
    : tiles_(&gemm_tiles<T>()),
      tiny_(tiny_gemm<T>(g)),
      add_(g.accumulate),
      m_(g.m),
      n_(g.n),
      k_(g.k),
      a_row_(g.a_row),
      a_col_(g.a_col),
      b_row_(g.b_row),
      b_col_(g.b_col),
      c_row_(g.c_row),
      depth_(g.k) {
  if (is_rows_by_column(g)) {
    form_ = Form::kColumn;
    return;
  }
  if (n_ == 1 && a_row_ == 1 && c_row_ == 1) {  // its column is a dense row of the transposed one
    swapped_ = true;
    n_ = std::exchange(m_, 1);
    std::swap(a_col_, b_row_);
    b_col_ = 1;
  }
  if (b_col_ != 1 && n_ > 1 && k_ > 0) {
    // Rows of b^T are dense: few rows of a meet them in the lanes along the sum.
    if (b_row_ == 1 && a_col_ == 1 && m_ <= 3) {
      form_ = Form::kRows;
      return;
    }
    packs_ = true;
  }
  const int64_t lanes = tiles_->lanes;
  width_ = (m_ <= GemmTiles<T>::kFlatRows ? 4 : 2) * lanes;
  if (m_ > tiles_->rows) {  // panels of equal heights
    const int64_t panels = (m_ + tiles_->rows - 1) / tiles_->rows;
    height_ = (m_ + panels - 1) / panels;
  } else {
    height_ = std::max<int64_t>(m_, 1);
  }
  if (!packs_) return;
  whole_ = k_ * ((n_ + width_ - 1) / width_ * width_) <= Packed::kSize;
  if (!whole_) depth_ = std::min(k_, Packed::kSize / width_);
}

// The columns from j on that one panel of b holds.
template <class T>
void SmallGemm<T>::panel(const T* a, const T* b, int64_t b_row, T* c, int64_t j, int64_t k,
                         bool add) const {
  const int64_t columns = std::min(width_, n_ - j);
  const bool dense = a_row_ == 1;
  Ahead ahead;
  const GemmTile<T> tile = tiles_->tile(height_, columns, dense);
  int64_t i = 0;
  for (; i + height_ <= m_; i += height_)
    tile(k, a + i * a_row_, a_row_, a_col_, b, b_row, c + i * c_row_ + j, c_row_, add, columns,
         ahead);
  if (i < m_)
    tiles_->tile(m_ - i, columns, dense)(k, a + i * a_row_, a_row_, a_col_, b, b_row,
                                         c + i * c_row_ + j, c_row_, add, columns, ahead);
}

template <class T>
void SmallGemm<T>::run(const T* a, const T* b, T* c) const {
  if (form_ == Form::kColumn) return tiles_->dots(m_, k_, a, a_row_, b, c, c_row_, add_);
  if (form_ == Form::kRows) {
    for (int64_t i = 0; i < m_; ++i)
      tiles_->dots(n_, k_, b, b_col_, a + i * a_row_, c + i * c_row_, 1, add_);
    return;
  }
  if (swapped_) std::swap(a, b);
  for (int64_t j = 0; j < n_; j += width_) panel(a, b + j, b_row_, c, j, k_, add_);
}

template <class T>
void SmallGemm<T>::run(const T* a, const T* b, T* c, Packed& packed) const {
  if (!packs_) return run(a, b, c);
  if (swapped_) std::swap(a, b);
  const bool known = whole_ && packed.from == b;
  packed.from = whole_ ? b : nullptr;
  for (int64_t j = 0; j < n_; j += width_) {
    const int64_t columns = std::min(width_, n_ - j);
    for (int64_t p = 0; p < k_; p += depth_) {
      const int64_t k = std::min(depth_, k_ - p);
      T* const to = packed.memory + (whole_ ? j * k_ : 0);
      if (!known) gemm_pack(b + j * b_col_ + p * b_row_, b_col_, b_row_, columns, k, width_, to);
      panel(a + p * a_col_, to, width_, c, j, k, add_ || p > 0);
    }
  }
}

template class SmallGemm<float>;
template class SmallGemm<double>;

}  // namespace spruce::cpu
