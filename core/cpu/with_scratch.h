// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// A kernel as it stands, prepared so that the `bytes` of Scratch that it takes on the thread that
/// calls it come from the plan of a compiled function. Results do not share memory with operands.
std::unique_ptr<const PreparedKernel> with_scratch(void (*kernel)(const KernelArgs&), size_t bytes);

}  // namespace spruce::cpu
