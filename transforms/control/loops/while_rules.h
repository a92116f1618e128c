// SPDX-License-Identifier: Apache-2.0
// The longer rules of the primitive while_loop.
#pragma once

#include <memory>

#include "spruce/core/primitive.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

/// A loop over carry and tangents. Under grad the loop becomes a scan of its greatest number of
/// steps; without one it has no reverse mode.
void jvp_of_while(const JvpArgs& args);
/// A loop that runs until all are done, where those that are done keep their carry.
void batch_of_while(const BatchArgs& args);
/// Runs it step by step.
std::vector<Array> run_while(std::span<const Array> in, const Params& params);
/// The kernel of a compiled loop.
std::unique_ptr<const PreparedKernel> prepare_while(const PrepareArgs& args);

}  // namespace spruce::internal
