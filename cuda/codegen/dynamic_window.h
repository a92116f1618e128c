// SPDX-License-Identifier: Apache-2.0
// Where a window begins whose place is given by inputs.
#pragma once

#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {

/// The offset in an array of shape `x` of a window that begins at the inputs `first` and the
/// following ones, one for each axis, moved to where it fits. Declares them in front of the body.
std::string window_start(KernelBuilder& kernel, const Shape& x, const Shape& window, size_t first);

}  // namespace spruce::cuda
