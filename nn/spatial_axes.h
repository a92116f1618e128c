// SPDX-License-Identifier: Apache-2.0
// What layers over spatial axes ask of their input.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn::internal {

/// Throws ShapeError naming `op` unless x has so many spatial axes behind one or two others.
void require_spatial_axes(const char* op, int axes, const Array& x);
/// The same; returns the channels, the size of the axis in front of them.
int64_t channels_of(const char* op, int axes, const Array& x);

}  // namespace spruce::nn::internal
