// SPDX-License-Identifier: Apache-2.0
// The loops inside of the kernels of reductions, for callers that run them over runs of their own.
#pragma once

#include "spruce/core/cpu/reduce/reduce.h"

namespace spruce::cpu {

/// The loops of a reduction over elements of that dtype.
ReduceLoops reduce_loops(const Primitive& p, Dtype dtype);

namespace internal {

/// What a reduction reports to, instead of running, while reduce_loops asks for it.
extern thread_local ReduceLoops* reduce_recorder;

}  // namespace internal
}  // namespace spruce::cpu
