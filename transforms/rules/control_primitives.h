// SPDX-License-Identifier: Apache-2.0
// The primitives of control flow: graphs within graphs.
#pragma once

#include <vector>

#include "spruce/core/primitive.h"
#include "spruce/core/rules/control_flow.h"

namespace spruce {

/// Loops and branches; guard is its first input, with gradients only where the second, a mask, is
/// true; fill_unmasked is its first input, with what the mask leaves out replaced by the first that
/// it has.
extern const Primitive scan_p, while_loop_p, cond_p, guard_p, fill_unmasked_p;

namespace rules {

/// The outputs for these inputs.
std::vector<Array> scan(const ScanParams& params, std::span<const Array> in);
/// The outputs of while_loop for these inputs.
std::vector<Array> while_loop(const WhileParams& params, std::span<const Array> in);
/// The outputs of cond for these inputs.
std::vector<Array> cond(const CondParams& params, std::span<const Array> in);
/// The type of the first input; throws GraphError unless the second is a mask for its leading axes.
Aval masked_shape(const ShapeArgs& a);
/// A mask for the leading axes of an array of that rank, shaped so that it broadcasts along the
/// others.
Array over_leading_axes(const Array& mask, int rank);

}  // namespace rules
}  // namespace spruce
