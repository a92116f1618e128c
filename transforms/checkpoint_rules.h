// SPDX-License-Identifier: Apache-2.0
// The primitives of checkpoint.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// checkpoint: a call of a body that is computed again in reverse mode. The first `held` inputs
/// come into being, as far as the body goes, when the input after them does: so is it kept from
/// merging with the first run.
struct CheckpointParams {
  GraphPtr body;
  int64_t held = 0;
  bool save_matmuls = false;
  std::string save_names;  // between commas
};

/// barrier: its first input, once the second is there. Two values that are the same on the two
/// sides of it are computed twice.
/// checkpoint_name: its input, under a name.
struct CheckpointNameParams {
  std::string name;
};

extern const Primitive barrier_p, checkpoint_p, checkpoint_name_p;

namespace internal {

void jvp_of_checkpoint(const JvpArgs& a);
void transpose_of_checkpoint(const TransposeArgs& a);
void batch_of_checkpoint(const BatchArgs& a);

}  // namespace internal
}  // namespace spruce
