// SPDX-License-Identifier: Apache-2.0
// Ranges of NVTX: names over the time line of NVIDIA's profilers, on the thread that enqueues.
#pragma once

#include <string>

namespace spruce::cuda {

/// True where SPRUCE_CUDA_NVTX=1 asks for ranges. Then nvtx() has to be there.
bool ranges_wanted();

/// A range as long as it lives, where they are wanted.
class Range {
 public:
  explicit Range(const char* text);
  /// "dot_general train.cc:42".
  Range(const char* text, const std::string& place);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace spruce::cuda
