// SPDX-License-Identifier: Apache-2.0
// The kernel of gather_reduce: rows are reduced as they are read.
#pragma once

#include <memory>

#include "spruce/core/rules/gather_reduce.h"

namespace spruce::cpu {

/// The kernel of gather_reduce.
void gather_reduce_kernel(const KernelArgs& args);
/// The same, made for one equation.
std::unique_ptr<const PreparedKernel> prepare_gather_reduce(const PrepareArgs& args);

}  // namespace spruce::cpu
