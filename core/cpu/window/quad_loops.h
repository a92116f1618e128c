// SPDX-License-Identifier: Apache-2.0
// Loops over lines of windows of 2 x 2 side by side.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// Loops over n windows whose elements are x[2 i], x[2 i + 1] (taps 0 and 1) of the line above, and
/// the same of the one below (taps 2 and 3).
struct QuadLoops {
  void (*max)(const float* above, const float* below, int64_t n, float* out);
  void (*min)(const float* above, const float* below, int64_t n, float* out);
  /// The first tap with the largest (smallest) element; one that is not a number wins.
  void (*argmax)(const float* above, const float* below, int64_t n, int32_t* out);
  void (*argmin)(const float* above, const float* below, int64_t n, int32_t* out);
  /// The element of the tap, `fill` where there is none of that number.
  void (*gather)(const float* above, const float* below, const int32_t* tap, int64_t n, float fill,
                 float* out);
  /// Writes x to the element of its tap and zero to the others.
  void (*scatter)(const float* x, const int32_t* tap, int64_t n, float* above, float* below);
};

/// Those for this processor.
const QuadLoops& quad_loops();

}  // namespace spruce::cpu
