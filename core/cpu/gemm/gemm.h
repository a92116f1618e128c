// SPDX-License-Identifier: Apache-2.0
// Products of matrices with any strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spruce/core/dtype.h"

namespace spruce::cpu {

/// c[i, j] = sum over p of a[i, p] b[p, j], for 0 <= i < m, 0 <= j < n, 0 <= p < k. Strides are in
/// elements; the elements of a row of c are neighbours.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;   ///< rows of c, columns of c, terms of each sum
  const void* a = nullptr;       ///< of the dtype of the call, as b and c; not owned
  int64_t a_row = 0, a_col = 1;  ///< from a row, a column of a to the next
  const void* b = nullptr;       ///< not owned
  int64_t b_row = 0, b_col = 1;  ///< from a row, a column of b to the next
  void* c = nullptr;             ///< does not overlap a or b
  int64_t c_row = 0;             ///< from a row of c to the next
  /// Adds to what c holds; not for f16 and bf16, whose sums are kept in f32.
  bool accumulate = false;
};

/// The multiply-adds of a product.
inline double work(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}
/// Multiply-adds that are worth a thread.
inline constexpr double kThread = 1 << 20;

/// One product, on several threads where it pays. f16 and bf16 accumulate in f32; integers wrap;
/// bool is or of and. Every element is summed in an order that depends on the sizes only.
void gemm(Dtype dtype, const Gemm& g);
/// Bytes of workspace that gemm() and gemm_batched() take for products of these sizes and strides
/// on the thread that calls them. The pointers do not matter.
size_t gemm_workspace(Dtype dtype, const Gemm& g);

/// `count` products of the same sizes: product i has its operands a_offset[i] and b_offset[i]
/// elements, and its result i * c_step elements, behind those of `g`. Null offsets stand for zeros.
void gemm_batched(Dtype dtype, const Gemm& g, int64_t count, const int64_t* a_offset,
                  const int64_t* b_offset, int64_t c_step);

}  // namespace spruce::cpu
