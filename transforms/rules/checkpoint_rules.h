// SPDX-License-Identifier: Apache-2.0
// The primitives of checkpoint.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// checkpoint: a call of a body that is computed again in reverse mode. The first `held` inputs
/// come into being, as far as the body goes, when the input after them does: so is it kept from
/// merging with the first run.
struct CheckpointParams {
  GraphPtr body;              ///< from the inputs to the outputs
  int64_t held = 0;           ///< fewer than there are inputs
  bool save_matmuls = false;  ///< as in CheckpointOptions
  std::string save_names;     ///< as in CheckpointOptions, between commas
};

/// barrier: its first input, once the second is there. Two values that are the same on the two
/// sides of it are computed twice.
/// checkpoint_name: its input, under a name.
struct CheckpointNameParams {
  std::string name;  ///< by which CheckpointOptions::save_names finds it
};

/// The three primitives of checkpoint().
extern const Primitive barrier_p, checkpoint_p, checkpoint_name_p;

namespace internal {

void jvp_of_checkpoint(const JvpArgs& a);
void transpose_of_checkpoint(const TransposeArgs& a);
void batch_of_checkpoint(const BatchArgs& a);

}  // namespace internal
}  // namespace spruce
