// SPDX-License-Identifier: Apache-2.0
// The loops inside of the kernels of elementwise primitives, for callers that run them over runs of
// their own.
#pragma once

#include "spruce/core/cpu/elementwise/elementwise.h"

namespace spruce::cpu {

/// At most one of the three is set: none where the kernel of a primitive is not one such loop.
struct ElementLoop {
  UnaryLoop unary = nullptr;      ///< of one input
  BinaryLoop binary = nullptr;    ///< of two
  TernaryLoop ternary = nullptr;  ///< of three
};

/// The loop that an elementwise primitive runs for inputs and an output of these dtypes.
ElementLoop element_loop(const Primitive& p, std::span<const Dtype> in, Dtype out,
                         const Params& params);

namespace internal {

/// What run_unary and its like report to, instead of running, while element_loop asks for it.
extern thread_local ElementLoop* loop_recorder;

}  // namespace internal
}  // namespace spruce::cpu
