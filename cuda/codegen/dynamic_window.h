// SPDX-License-Identifier: Apache-2.0
// Copies of a window whose place is given by inputs.
#pragma once

#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {

/// The launch that copies a window of an array of shape `x`, which begins at the inputs `first` and
/// the following ones, one for each axis, moved to where it fits: from the array, or into it.
Launch window_copy(KernelBuilder& kernel, const Shape& x, const Shape& window, size_t first,
                   int64_t bytes, const Place& array, const Place& other, bool into);

}  // namespace spruce::cuda
