// SPDX-License-Identifier: Apache-2.0
// Decompositions of matrices, a block of threads each, in f64 whatever the dtype: what their texts
// share.
#pragma once

#include <string_view>

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The launch of `body` for each of `count` matrices, whose number is `matrix`, by all threads of a
/// block. `memory` in it is f64 memory of `numbers` for this block; T and C are the type of the
/// elements and the one they are computed in. Functions in `sp` that all threads call together:
/// `each(n, f)` calls f(i) for the i of this thread, `block_sum(x)` and `block_max(x)` join a
/// number of each. Sets the bytes of the workspace in `out`.
Launch matrix_launch(KernelBuilder& kernel, Kernels& out, const PrepareArgs& a, int64_t count,
                     int64_t numbers, std::string_view body);

}  // namespace spruce::cuda
