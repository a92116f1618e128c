// SPDX-License-Identifier: Apache-2.0
// Kernels that treat each row (the last axis) by itself: threads side by side share one, and hold
// it in registers where it is short enough.
#pragma once

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The launch of a kernel over the rows of input 0, which output 0 has too. The body is for one
/// row: `row` is an sp::Row, `T` and `C` are the types of elements and of computation, `n` is the
/// length of a row, `to` points to that of the output. It reads the row by
/// row.each([&](sp::i64 k, C x) { ... }), and brings states together by row.all(state); all threads
/// have to take part in that.
Launch rows_kernel(KernelBuilder& kernel, const PrepareArgs& args, std::string_view body);

}  // namespace spruce::cuda
