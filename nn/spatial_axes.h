// SPDX-License-Identifier: Apache-2.0
// What layers over spatial axes ask of their input.
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::nn::internal {

/// The names of so many spatial axes, for messages: "height, width".
std::string spatial_names(int axes);
/// Throws ShapeError naming `op` unless x has so many spatial axes behind one or two others.
void require_spatial_axes(const char* op, int axes, const Array& x);
/// The same; returns the channels, the size of the axis in front of them.
int64_t channels_of(const char* op, int axes, const Array& x);
/// What to add to a message about x and a weight of so many channels per group that does not fit
/// it: both numbers of channels, or nothing where they are the same, where x has another rank, or
/// where those of the weight are beyond int64.
std::string channels_clash(int axes, const Array& x, int64_t per_group, int64_t groups);

}  // namespace spruce::nn::internal
