// SPDX-License-Identifier: Apache-2.0
// Kernels that treat each row (the last axis) by itself: threads side by side share one, and hold
// it in registers where it is short enough.
#pragma once

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The launch of a kernel over the rows of input 0, which output 0 has too. The body is for one
/// row: `row` is an sp::Row, `T` and `C` are the types of elements and of computation, `n` is the
/// length of a row. It reads vectors of `width` elements by
/// row.each([&](sp::i64 k, int there, C (&x)[width]) { ... }), brings states together by
/// row.all(state), in which all threads have to take part, and ends with row.write(...), which
/// stores what the function leaves in x. Beyond the end of a row x is `nothing`, an expression.
/// `functions` stand in front of the kernel.
Launch rows_kernel(KernelBuilder& kernel, const PrepareArgs& args, std::string_view nothing,
                   std::string_view body, std::string_view functions = {});

}  // namespace spruce::cuda
