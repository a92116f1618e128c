// SPDX-License-Identifier: Apache-2.0
// Running results along one axis.
#pragma once

#include <string_view>

#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The kernels of a cumulative primitive (CumulativeParams) whose state is sp::<name>, one of the
/// prelude of reductions or `Running...` below: sums and products of floats run in f64.
Kernels scan(const PrepareArgs& args, std::string_view name);

}  // namespace spruce::cuda
