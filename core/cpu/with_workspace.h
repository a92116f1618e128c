// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// As with_workspace(), for a kernel that may write its results over operands of as many bytes.
std::unique_ptr<const PreparedKernel> with_workspace_in_place(void (*kernel)(const KernelArgs&),
                                                              size_t bytes);

/// A kernel as it stands, prepared so that the `bytes` of workspace that it takes on the thread
/// that calls it come from the plan of a compiled function. Results do not share memory with
/// operands. Null for no bytes: there, the kernel itself is as good.
std::unique_ptr<const PreparedKernel> with_workspace(void (*kernel)(const KernelArgs&),
                                                     size_t bytes);

/// The rule `prepare` of a primitive whose kernel takes kBytes(args) of workspace.
template <void (*kKernel)(const KernelArgs&), size_t (*kBytes)(const PrepareArgs&)>
std::unique_ptr<const PreparedKernel> prepare_with_workspace(const PrepareArgs& args) {
  return with_workspace(kKernel, kBytes(args));
}

}  // namespace spruce::cpu
