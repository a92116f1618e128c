// SPDX-License-Identifier: Apache-2.0
// The rules that `simplify` puts together.
#pragma once

#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {

/// x * 1, x - (-y), conversions that lose nothing, choices that are known.
ValueId arithmetic_rule(Rewriter& r, const Equation& e);
/// Operations that move elements: what does nothing goes, two in a row become one.
ValueId data_movement_rule(Rewriter& r, const Equation& e);
/// Reductions over axes of size 1, of reductions, of copies, of stacks.
ValueId reduction_rule(Rewriter& r, const Equation& e);

}  // namespace spruce::passes
