// SPDX-License-Identifier: Apache-2.0
// Kernels of the primitives that order elements.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// The kernel of sort.
void sort_kernel(const KernelArgs& args);
/// The kernel of top_k.
void top_k_kernel(const KernelArgs& args);
/// The kernel of searchsorted.
void searchsorted_kernel(const KernelArgs& args);

}  // namespace spruce::cpu
