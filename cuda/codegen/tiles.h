// SPDX-License-Identifier: Apache-2.0
// Sums of products as tiles in shared memory: what products of matrices and convolutions have in
// common. Libraries take the frequent ones; this is for all others.
#pragma once

#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

/// out[b, m, n] = the sum over k of left[b, m, k] right[b, k, n].
struct Tiles {
  int64_t batches, rows, columns, depth;  ///< the sizes of b, m, n and k
  Dtype dtype;                            ///< of all three
  bool left_along_depth;   ///< neighbours along k are neighbours in memory, else those along m
  bool right_along_depth;  ///< the same for the right one, else those along n
  std::string left;        ///< statements that set `value` to an element, from `b`, `m` and `k`
  std::string right;       ///< the same from `b`, `k` and `n`
  std::string store;       ///< statements that store `value` at `b`, `m` and `n`
};

/// The launch. Floats are summed up with fused multiply-adds, halves in f32; integers wrap, and
/// sums of bool are ors.
Launch tiles_kernel(KernelBuilder& kernel, const Tiles& t);

}  // namespace spruce::cuda
