// SPDX-License-Identifier: Apache-2.0
// The elements that the windows of a convolution lie on, as a matrix for a product.
#pragma once

#include <string>

#include "spruce/core/rules/conv_plan.h"
#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// A part of the matrix: of the axes images, input features, taps of the window and places of the
/// output.
struct Columns {
  int64_t offset;                ///< in lhs, in elements, of the first image and feature
  int64_t images, features;      ///< how many
  int64_t first_cell, cells;     ///< places of the output, row-major
  int64_t to;                    ///< where the matrix begins in the workspace, in bytes
  int64_t image, feature, cell;  ///< its steps, in elements
  int64_t tap;                   ///< of a window
  bool cells_inside;             ///< a thread walks over places of the output, all of them, for
                                 ///< one tap; else over taps for one place
};

/// Whether the numbers of places fit what the kernel counts with.
bool has_columns(const ConvPlan& plan);
/// The kernel that writes them.
void columns_kernel(const PrepareArgs& args, const ConvPlan& plan, const Columns& columns,
                    Kernels& out);

/// Statements that find the element which a window lies on. There are two positions, the place of
/// the output and the tap of the window: one is the thread's own, the other one is walked over, or
/// given too.
struct WindowText {
  std::string own;    ///< sets the own position from `cell`, an sp::u32
  std::string other;  ///< sets the other one, where it is given, from `place`, an sp::u32
  std::string begin;  ///< what follows sees `at`, a place within the spatial axes of lhs, and
                      ///< `inside`, which is false for padding; once for each other position,
                      ///< row-major, or for the one that is given
  std::string end;    ///< closes it
};
/// The text for a plan: `tap` says which position is the own one.
WindowText window_text(KernelBuilder& kernel, const ConvPlan& plan, bool tap, bool given);

}  // namespace spruce::cuda
