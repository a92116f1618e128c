// SPDX-License-Identifier: Apache-2.0
// How many operations a primitive takes, for Primitive::flops.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::rules {

/// What only moves or makes elements.
inline double no_flops(const PrepareArgs&) { return 0; }

/// `N` for each element of the first output.
template <int N>
double flops_per_output(const PrepareArgs& a) {
  return N * static_cast<double>(a.out[0]->shape.numel());
}

/// `N` for each element of the last input: of scatters, the updates.
template <int N>
double flops_per_last_input(const PrepareArgs& a) {
  return N * static_cast<double>(a.in.back()->shape.numel());
}

/// A multiplication and an addition for each element of the output and each contracted place.
double dot_flops(const PrepareArgs& a);
/// The same where windows lie on elements: zeros around and between them cost nothing.
double conv_flops(const PrepareArgs& a);
/// One for each element of a window, padding included.
double window_flops(const PrepareArgs& a);
/// n log2 n comparisons along the sorted axis.
double sort_flops(const PrepareArgs& a);

}  // namespace spruce::rules
