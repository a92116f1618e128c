// SPDX-License-Identifier: Apache-2.0
// Products of few multiply-adds, where finding out what to do takes as long as doing it: so that is
// done once, and the operands are read where they are.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/gemm/gemm_tiny.h"

namespace spruce::cpu {

/// Multiply-adds below which a product needs no blocks.
inline constexpr double kSmallGemm = 1 << 21;

/// True for a dense row times a dense column for each element. Such products are computed by the
/// tiles' dots whatever their size, so that a row has the same bits among any number of them.
constexpr bool is_rows_by_column(const Gemm& g) {
  return g.n == 1 && g.a_col == 1 && g.b_row == 1 && g.k > 1;
}

/// One product of float or double of settled sizes and strides, on one thread. An element is summed
/// in an order that depends on these only.
template <class T>
class SmallGemm {
 public:
  /// Where the right operand is gathered, if its rows are not dense. It remembers which one: the
  /// products of one batch share it.
  struct Packed {
    static constexpr int64_t kSize = 65536 / sizeof(T);
    const T* from;
    alignas(64) T memory[kSize];
    Packed() : from(nullptr) {}
  };

  /// Sizes and strides of `g`; its pointers do not matter.
  explicit SmallGemm(const Gemm& g);
  void run(const T* a, const T* b, T* c, Packed& packed) const;
  /// The same where the rows of the right operand are dense, which then is not gathered.
  void run(const T* a, const T* b, T* c) const;
  /// The loop for products that are tiny; null for others.
  TinyGemm<T> tiny() const { return tiny_; }

 private:
  enum class Form : uint8_t { kTiles, kColumn, kRows };

  void panel(const T* a, const T* b, int64_t b_row, T* c, int64_t j, int64_t k, bool add) const;

  const GemmTiles<T>* tiles_;
  TinyGemm<T> tiny_;
  Form form_ = Form::kTiles;
  bool swapped_ = false, packs_ = false, whole_ = false, add_;
  int64_t m_, n_, k_, a_row_, a_col_, b_row_, b_col_, c_row_;
  int64_t height_ = 1, width_ = 1, depth_;
};

}  // namespace spruce::cpu
