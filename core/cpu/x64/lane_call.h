// SPDX-License-Identifier: Apache-2.0
// What has no instructions: code calls the primitive's own kernel for the lanes of a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce::cpu::x64 {

/// A primitive of at most three inputs, applied to lanes in memory. Several threads may run it.
class LaneCall {
 public:
  LaneCall(const Primitive& p, const Params& params, std::span<const Dtype> in, Dtype out);

  /// n lanes, at most 16, of as many inputs as there are, and of the result. 16-bit floats are f32.
  static void run(const LaneCall* call, const void* x, const void* y, const void* z, void* out,
                  int64_t n);

 private:
  const Primitive& p_;
  Params params_;
  std::vector<Dtype> in_;
  Dtype out_;
  ElementLoop loop_;  // none where the kernel is not one, and for 16-bit floats
};

}  // namespace spruce::cpu::x64
