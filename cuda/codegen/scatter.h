// SPDX-License-Identifier: Apache-2.0
// Scatters: updates of one element are combined in the order of their positions, in pieces of it.
#pragma once

#include "spruce/cuda/codegen/index_windows.h"

namespace spruce::cuda {

/// The kernels of a scatter into windows `to`, given by input 1. The updates are input 2; where
/// `source` is given, they are its windows, at the index vectors of input 3. `combine` is a
/// function of two computed values, "" for the last update.
Kernels scatter(const PrepareArgs& args, const IndexWindows& to, const IndexWindows* source,
                std::string_view combine);

/// A scatter with GatherParams.
Kernels scatter(const PrepareArgs& args, std::string_view combine);

}  // namespace spruce::cuda
