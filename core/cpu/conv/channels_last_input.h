// SPDX-License-Identifier: Apache-2.0
// Inputs of convolutions whose features are neighbours, with their padding.
#pragma once

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/conv/conv.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

/// Floats of transposed operands at most.
inline constexpr int64_t kMostTransposed = 1 << 24;
/// Floats of the operand in the lanes that stay in a near cache while rows pass by.
inline constexpr int64_t kTermsNear = 1 << 14;

/// Places of the input along each axis, from first[d] on; those outside of it hold zeros.
struct Places {
  int64_t first[3], size[3];
  int64_t count() const { return size[0] * size[1] * size[2]; }
};

/// to[place, feature] for all places: the features are `step` apart in x, and their spatial axes
/// dense.
void copy_channels_last(const ConvPlan& c, const Places& p, const float* x, int64_t features,
                        int64_t step, float* to);
/// Bytes of workspace that it takes.
size_t channels_last_workspace(const ConvPlan& c, const Places& p, int64_t features);

/// The runs of a sum: where each begins in the operand of the rows and in that of the lanes.
struct Runs {
  Workspace memory;
  int64_t most, count = 0;

  /// For at most n of them.
  explicit Runs(int64_t n) : memory(bytes(n)), most(n) {}
  static size_t bytes(int64_t n) { return bytes_of<int64_t>(2 * n); }
  int64_t* rows() const { return memory.as<int64_t>(); }
  int64_t* lanes() const { return memory.as<int64_t>() + most; }
  void add(int64_t row, int64_t lane) { rows()[count] = row, lanes()[count++] = lane; }
};

}  // namespace spruce::cpu
