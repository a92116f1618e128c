// SPDX-License-Identifier: Apache-2.0
// The primitives of control flow and their parameters: graphs within graphs.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

/// Loops and branches; guard is its first input, with gradients only where the second, a mask, is
/// true; fill_unmasked is its first input, with what the mask leaves out replaced by the first that
/// it has.
extern const Primitive scan_p, while_loop_p, cond_p, guard_p, fill_unmasked_p;

/// The inputs are constants, the carry, and arrays with `length` in front; the body takes the
/// constants, the carry, and a slice of each of the others, and gives the next carry and a slice of
/// each stacked output. The outputs are the last carry and the stacked outputs.
struct ScanParams {
  int64_t length = 0;       ///< number of steps
  int64_t consts = 0;       ///< how many inputs are constants
  int64_t carry = 0;        ///< how many inputs, and outputs, are the carry
  bool reverse = false;     ///< from the last slice to the first; results stay in their places
  int64_t unroll = 1;       ///< steps in one turn of the compiled loop
  bool checkpoint = false;  ///< reverse mode keeps the carries alone, and computes the rest again
  GraphPtr body;            ///< one step
};

/// The inputs are the constants of the condition, those of the body, and the carry, which is what
/// comes out. At most `max_steps` steps, where that is not negative.
struct WhileParams {
  int64_t condition_consts = 0;  ///< how many inputs are constants of the condition
  int64_t body_consts = 0;       ///< how many are constants of the body
  int64_t max_steps = -1;        ///< as in WhileOptions; -1 for no limit
  bool checkpoint = false;       ///< as in WhileOptions
  GraphPtr condition;            ///< its constants and the carry -> bool[]
  GraphPtr body;                 ///< its constants and the carry -> the next carry
};

/// The first input, i32[], says which branch the others go to; below the first means the first,
/// past the last the last.
struct CondParams {
  std::vector<GraphPtr> branches;  ///< of the same inputs and types of outputs
};

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
