// SPDX-License-Identifier: Apache-2.0
// Loops and branches of eager programs, made ready once and not at each call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spruce/core/primitive.h"
#include "spruce/transforms/compile/executor.h"

namespace spruce::internal {

/// A primitive with bodies, ready to run on inputs of given types.
struct ReadyKernel {
  const Primitive* primitive;
  Params source;  ///< as the primitive was called
  std::vector<Aval> in, out;
  Params optimized;  ///< with the bodies after all passes
  std::unique_ptr<const PreparedKernel> kernel;
};

/// The kernel that `prepare` makes for these parameters, after all passes on their graphs, or the
/// one of an earlier call with equal parameters and types. The last few are kept, except for those
/// whose bodies hold functions of the user.
std::shared_ptr<const ReadyKernel> ready_kernel(
    const Primitive& p, const Params& params, std::span<const Array> in,
    std::unique_ptr<const PreparedKernel> (*prepare)(const PrepareArgs&));

/// A body as a function, or that of an earlier call with an equal body, which has been compiled for
/// the devices that it ran on. They are kept as the kernels are.
std::shared_ptr<const Executor> ready_body(const GraphPtr& body);

}  // namespace spruce::internal
