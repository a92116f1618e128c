// SPDX-License-Identifier: Apache-2.0
// Sorting of the numbers of elements, by kernels that put them in the order of a comparison.
#pragma once

#include <functional>

#include "spruce/cuda/codegen/loops.h"

namespace spruce::cuda {

/// Rows of n elements each, to be ordered.
struct Ordering {
  int64_t rows;    ///< how many
  int64_t n;       ///< elements of each
  int64_t wanted;  ///< of these, in order
  /// Declares what the comparison reads, and returns the body of
  ///   bool before(sp::i64 row, sp::i64 a, sp::i64 b)
  /// which may use `return`: true if element a of the row stands before another one, b. Equal ones
  /// give false; they stay in their order.
  std::function<std::string(KernelBuilder& kernel)> before;
  /// The same in place of `before`, for elements whose order is that of a number of 32 bits: the
  /// body of  sp::u32 key(sp::i64 row, sp::i64 a)
  std::function<std::string(KernelBuilder& kernel)> key;
};

/// What ordering_kernels() leaves in the workspace: for each row `stride` numbers of type `type`,
/// of which the first `wanted` are, by sp::position_of, those of the elements in order.
struct Ordered {
  int64_t offset;    ///< in the workspace, in bytes
  int64_t stride;    ///< from row to row
  const char* type;  ///< "sp::u32", "sp::i64", or "sp::u64" of keys above numbers of 32 bits
};

/// Kernels of a bitonic sort, which is made stable by the numbers themselves.
Ordered ordering_kernels(const PrepareArgs& args, const Ordering& ordering, Kernels& out);

/// The functions sp::ordered_key and, for types of at most 32 bits, sp::ordered_key32: elements as
/// unsigned integers that compare as they do; -0 equals 0, NaN are equal and the largest. Besides
/// sp::position_of, the number of an element from what Ordered describes.
std::string_view ordered_key_text();

}  // namespace spruce::cuda
