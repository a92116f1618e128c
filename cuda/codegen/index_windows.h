// SPDX-License-Identifier: Apache-2.0
// Where the windows of a gather or a scatter lie, as text: core/cpu/index/windows.h for kernels.
#pragma once

#include "spruce/core/rules/gather.h"
#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {

/// The windows of an operand at index vectors.
struct IndexWindows {
  /// `result` is what a gather fills, or the updates of a scatter.
  IndexWindows(const GatherParams& params, const Shape& operand, const Shape& result);

  Walk positions;            ///< steps in the operand and in the result
  Walk window;               ///< the same
  bool overlapping = false;  ///< windows at different positions may meet without being the same

  /// Makes neighbours in all windows one value, as far as both sides allow it: `window` then goes
  /// from value to value, with steps in elements. Returns how many they are.
  int64_t widen(int64_t bytes);

  /// Statements that declare `<prefix>from`, the first element of the window at position
  /// `position` in the operand (-1: outside, to be left out), and `<prefix>to`, that in the result.
  std::string locate(KernelBuilder& kernel, const std::string& prefix, const std::string& indices,
                     const std::string& position) const;
  /// Statements that move both to element `step` of the window; names as above.
  std::string inside(KernelBuilder& kernel, const std::string& prefix, const std::string& from,
                     const std::string& to, const std::string& step) const;

 private:
  bool clip_, wraps_;
  std::vector<int64_t> stride_, limit_, size_;
};

}  // namespace spruce::cuda
