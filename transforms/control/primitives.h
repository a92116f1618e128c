// SPDX-License-Identifier: Apache-2.0
// The primitives of control flow and their parameters: graphs within graphs.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

extern const Primitive scan_p, while_loop_p, cond_p, guard_p;

/// The inputs are constants, the carry, and arrays with `length` in front; the body takes the
/// constants, the carry, and a slice of each of the others, and gives the next carry and a slice of
/// each stacked output. The outputs are the last carry and the stacked outputs.
struct ScanParams {
  int64_t length = 0;
  int64_t consts = 0;
  int64_t carry = 0;
  bool reverse = false;
  int64_t unroll = 1;
  bool checkpoint = false;  // reverse mode keeps the carries alone, and computes the rest again
  GraphPtr body;
};

/// The inputs are the constants of the condition, those of the body, and the carry, which is what
/// comes out. At most `max_steps` steps, where that is not negative.
struct WhileParams {
  int64_t condition_consts = 0;
  int64_t body_consts = 0;
  int64_t max_steps = -1;
  bool checkpoint = false;
  GraphPtr condition;
  GraphPtr body;
};

/// The first input, i32[], says which branch the others go to; below the first means the first,
/// past the last the last.
struct CondParams {
  std::vector<GraphPtr> branches;
};

namespace rules {

/// The outputs for these inputs.
std::vector<Array> scan(const ScanParams& params, std::span<const Array> in);
std::vector<Array> while_loop(const WhileParams& params, std::span<const Array> in);
std::vector<Array> cond(const CondParams& params, std::span<const Array> in);

}  // namespace rules
}  // namespace spruce
