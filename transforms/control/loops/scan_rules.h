// SPDX-License-Identifier: Apache-2.0
// The longer rules of the primitive scan.
#pragma once

#include <memory>

#include "spruce/core/primitive.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

/// A scan of the jvp of the body; under grad two scans, of which the second is linear.
void jvp_of_scan(const JvpArgs& args);
/// A scan the other way round over the transposed body.
void transpose_of_scan(const TransposeArgs& args);
/// Runs it step by step.
std::vector<Array> run_scan(std::span<const Array> in, const Params& params);
/// The kernel of a compiled loop.
std::unique_ptr<const PreparedKernel> prepare_scan(const PrepareArgs& args);
/// The same as machine code, for a body over arrays of a few elements; else null.
std::unique_ptr<const PreparedKernel> tiny_scan(const ScanParams& params);

}  // namespace spruce::internal
