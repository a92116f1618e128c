// SPDX-License-Identifier: Apache-2.0
// Windows that slide over an array, as loops in a text.
#pragma once

#include "spruce/core/rules/window_plan.h"
#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// Declares the sizes of the windows, and returns statements that declare the cell `c<d>` on each
/// axis of window number `i`.
std::string window_cells(KernelBuilder& kernel, const WindowPlan& plan);

/// Loops over the taps of window `i`, whose cells are declared, in row-major order. For each that
/// names an element the statements `each` run, with `tap`, its number, and `offset`, the place of
/// the element.
std::string window_taps(const WindowPlan& plan, const std::string& each);

/// The kernels of a reduction over windows by the state sp::<state>.
Kernels window_reduction(const PrepareArgs& args, std::string_view state);

}  // namespace spruce::cuda
