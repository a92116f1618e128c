// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// As with_scratch(), for a kernel that may write its results over operands of as many bytes.
std::unique_ptr<const PreparedKernel> with_scratch_in_place(void (*kernel)(const KernelArgs&),
                                                            size_t bytes);

/// A kernel as it stands, prepared so that the `bytes` of Scratch that it takes on the thread that
/// calls it come from the plan of a compiled function. Results do not share memory with operands.
/// Null for no bytes: there, the kernel itself is as good.
std::unique_ptr<const PreparedKernel> with_scratch(void (*kernel)(const KernelArgs&), size_t bytes);

/// The rule `prepare` of a primitive whose kernel takes kBytes(args) of Scratch.
template <void (*kKernel)(const KernelArgs&), size_t (*kBytes)(const PrepareArgs&)>
std::unique_ptr<const PreparedKernel> prepare_with_scratch(const PrepareArgs& args) {
  return with_scratch(kKernel, kBytes(args));
}

}  // namespace spruce::cpu
