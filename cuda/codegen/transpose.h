// SPDX-License-Identifier: Apache-2.0
// Copies whose innermost axes change places, by tiles in shared memory.
#pragma once

#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

/// What a transposing kernel copies: `count` neighbours of `bytes` bytes from element p0 on of `x`
/// to q0 on of `y` (both declared in the text), along a walk of (from, to) in elements.
struct Transpose {
  Walk walk;
  std::string x, y;
  int64_t bytes = 0, count = 1;
};

/// The axis of the walk along which `from` is dense, if it is not the innermost and a tile of both
/// is worth its shared memory; else -1.
int transposed_axis(const Walk& walk, int64_t count);

/// The kernel, for an axis that is not -1.
void transpose_kernel(KernelBuilder& kernel, Transpose copy, int axis, Kernels& out);

}  // namespace spruce::cuda
