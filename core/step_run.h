// SPDX-License-Identifier: Apache-2.0
// Runs of the equations of compiled functions, as a profile gets them from the CPU and from
// devices.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "spruce/core/cxx20.h"

namespace spruce {
class Graph;
}

namespace spruce::internal {

/// One run of one equation.
struct StepRun {
  using Clock = std::chrono::steady_clock;
  const void* step = nullptr;    ///< tells it from others: runs of one step are one row
  const Graph* graph = nullptr;  ///< read at once, and not kept
  int32_t equation = -1;         ///< its place in the graph; -1 for what belongs to none
  const char* name = nullptr;    ///< of the primitive
  Clock::time_point begin;       ///< of the run, by the clock of the host
  Clock::time_point end;
};

/// Takes a run while a profile is taken; null otherwise, so that a call costs one look.
inline std::atomic<void (*)(const StepRun&)> profile_step{nullptr};
/// Gives the run to the profile that is taken, if there is one.
inline void add_to_profile(const StepRun& run) {
  if (const auto take = profile_step.load(std::memory_order_relaxed)) take(run);
}

/// While one of these lives, runs that this thread gives to a profile count as steps within another
/// one.
class WithinStep {
 public:
  WithinStep() { ++depth_; }
  ~WithinStep() { --depth_; }
  WithinStep(const WithinStep&) = delete;
  WithinStep& operator=(const WithinStep&) = delete;

  /// True within one.
  static bool any() { return depth_ > 0; }

 private:
  static inline thread_local constinit int depth_ = 0;
};

}  // namespace spruce::internal
