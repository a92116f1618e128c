// SPDX-License-Identifier: Apache-2.0
// The longer rules of the primitive cond.
#pragma once

#include <memory>

#include "spruce/core/primitive.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

/// A cond of the jvp of the branches; under grad two conds, of which the second is linear.
void jvp_of_cond(const JvpArgs& args);
/// A cond of the transposed branches.
void transpose_of_cond(const TransposeArgs& args);
/// Takes out of the residuals of a loop's body, whose own outputs are `outputs`, what its conds
/// make in every branch out of inputs that are not `moving`: what the branches make of them takes
/// its place, and the linear part picks one by the index.
void pick_invariants(LinearBody& body, size_t outputs, const Mask& moving);
/// Runs the branch that is chosen.
std::vector<Array> run_cond(std::span<const Array> in, const Params& params);
/// The kernel of a compiled branch.
std::unique_ptr<const PreparedKernel> prepare_cond(const PrepareArgs& args);

}  // namespace spruce::internal
