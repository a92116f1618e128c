// SPDX-License-Identifier: Apache-2.0
// Times of the steps of a compiled function by the clock of the device, while a profile is taken:
// events before each step and behind the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/cuda/driver/context.h"

namespace spruce::cuda {

/// Not safe to call from several threads at once: compiled functions run under the lock of the
/// device's arena. Graphs that were recorded with it hold its events: it outlives them.
class StepTimes {
 public:
  /// `equations`: of each step, in the order in which they run; -1 for a copy of results.
  StepTimes(Context& context, std::vector<int32_t> equations);
  ~StepTimes();
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  /// Before a run whose steps are marked.
  void begin();
  /// Enqueues the event before step k, or behind the last one.
  void mark(CUstream stream, size_t k);
  /// Waits until the steps have run, and gives their times to the profile.
  void report(const Graph& graph) const;

 private:
  Context& context_;
  std::vector<int32_t> equations_;
  std::vector<CUevent> events_;  // one more
};

}  // namespace spruce::cuda
