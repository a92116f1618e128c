// SPDX-License-Identifier: Apache-2.0
// What dynamic_slice and dynamic_update_slice share: start positions as integers of rank 0, one for
// each axis, moved to where the window fits.
#pragma once

#include "spruce/core/rules/gather.h"

namespace spruce::rules {

/// Throws unless `starts` are one integer of rank 0 for each axis of x, and the window is not
/// larger than x.
void check_starts(const ShapeArgs& a, const Aval& x, const Shape& window, Avals starts);
/// The offset in elements of the window in a dense array of shape x.
int64_t clamped_offset(const Shape& x, const Shape& window, std::span<const View> starts);
/// Starts with one of zero in front: of the window in an array with a mapped axis that all of it
/// belongs to.
std::vector<Array> starts_with_front(std::span<const Array> starts);
/// i32 or i64[batch, rank]: the starts side by side, repeated where they are not mapped.
Array stacked_starts(std::span<const Array> starts, std::span<const bool> batched, int64_t batch);
/// A gather or scatter of one window for each entry of a mapped axis in front.
GatherParams window_params(const Shape& window);

/// Samples: the operand's shape, that of the update if there is one, and the starts.
Sample dynamic_sample(const std::vector<Shape>& shapes, const std::vector<double>& starts,
                      Params params);

}  // namespace spruce::rules
