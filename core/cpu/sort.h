// SPDX-License-Identifier: Apache-2.0
// Kernels of the primitives that order elements.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

void sort_kernel(const KernelArgs& args);
void top_k_kernel(const KernelArgs& args);
void searchsorted_kernel(const KernelArgs& args);

}  // namespace spruce::cpu
