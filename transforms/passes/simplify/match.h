// SPDX-License-Identifier: Apache-2.0
// What the rules of several passes ask of a graph under construction.
#pragma once

#include <optional>

#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {

/// The number of which all elements of v are copies, if v is a constant of that kind, repeated or
/// not.
std::optional<double> number(const Rewriter& r, ValueId v);
/// v broadcast to that shape by NumPy's rules; v itself where it has it.
ValueId fit(Rewriter& r, ValueId v, const Shape& shape);
/// v with another shape of as many elements.
ValueId reshaped(Rewriter& r, ValueId v, const Shape& shape);
/// v broadcast to that shape, its axes standing at `dims`; v itself where nothing changes.
ValueId broadcast(Rewriter& r, ValueId v, const Shape& shape, const Axes& dims);
/// v with its axes in another order; v itself where that is the order that it has.
ValueId transposed(Rewriter& r, ValueId v, const Axes& perm);
/// The shape to which the inputs of an elementwise equation broadcast.
Shape broadcast_shape(const Rewriter& r, const Equation& e);

}  // namespace spruce::passes
