// SPDX-License-Identifier: Apache-2.0
// Shapes and samples of convolutions and of reductions over windows.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/rules/conv_params.h"

namespace spruce {

/// The primitive of conv_general(), with ConvParams.
extern const Primitive conv_general_p;

namespace rules {

/// The size of an axis whose neighbours are `dilation` apart.
inline int64_t dilated_size(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// How many places a window has on an axis. Throws ShapeError naming `op` for numbers too large to
/// count with.
int64_t window_places(const char* op, int64_t size, int64_t dilation, int64_t low, int64_t high,
                      int64_t window, int64_t window_dilation, int64_t stride);

/// The shape rule of conv_general. Throws ShapeError or DtypeError.
Aval conv_shape(const ShapeArgs& a);
/// Samples of conv_general for the property tests.
std::vector<Sample> conv_samples();

/// `s`, or `rank` times `value` where it is empty. Throws ShapeError naming `op` and `what` for
/// another length.
Shape filled_in(const char* op, const char* what, const Shape& s, int rank, int64_t value);

}  // namespace rules
}  // namespace spruce
