// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax: the largest element of each row, and the sum of exponentials below it.
#pragma once

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The kernel `name`. The statements `result` turn C (&x)[width], part of a row, into what is
/// written, by `m`, the largest element, and `total`, the sum of exp(x - m). With `exponentials`
/// rows that are held (Row::is_held) have these instead of x by then.
Kernels softmax_rows(const PrepareArgs& args, std::string name, bool exponentials,
                     std::string_view result);

}  // namespace spruce::cuda
