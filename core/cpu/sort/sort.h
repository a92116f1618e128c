// SPDX-License-Identifier: Apache-2.0
// Kernels of the primitives that order elements.
#pragma once

#include "spruce/core/cpu/with_workspace.h"

namespace spruce::cpu {

/// The kernel of sort.
void sort_kernel(const KernelArgs& args);
/// The kernel of top_k.
void top_k_kernel(const KernelArgs& args);
/// The kernel of searchsorted.
void searchsorted_kernel(const KernelArgs& args);

/// Bytes of workspace that these take.
size_t sort_workspace(const PrepareArgs& args);
size_t top_k_workspace(const PrepareArgs& args);
size_t searchsorted_workspace(const PrepareArgs& args);

}  // namespace spruce::cpu
