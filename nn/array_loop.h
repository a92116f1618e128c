// SPDX-License-Identifier: Apache-2.0
// scan over lists of arrays: one function for all loops of nn, where the template would be compiled
// for each.
#pragma once

#include "spruce/transforms/control/loops/scan.h"

namespace spruce::nn::internal {

/// scan with the leaves themselves: `step` takes those of the carry and of a slice, and gives those
/// of the next carry, as many as `init` has, and of what is stacked. So does the result.
std::vector<Array> scan_arrays(std::vector<Array> init, const std::vector<Array>& xs, bool reverse,
                               const spruce::internal::FlatBody& step);

}  // namespace spruce::nn::internal
