// SPDX-License-Identifier: Apache-2.0
// What loops and branches run: the parameters of the primitives of kind kScan, kWhile and kCond.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce {

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

}  // namespace spruce
