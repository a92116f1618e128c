// SPDX-License-Identifier: Apache-2.0
// The side of a profile that runs within plans.
#pragma once

#include <atomic>
#include <chrono>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// True while a profile is taken.
inline std::atomic<bool> profiling{false};

/// Times one step of a plan, from its making to its end. `step` tells it from others.
class StepTimer {
 public:
  StepTimer(const void* step, const Graph& graph, int32_t equation, const Primitive& primitive);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  const void* step_;
  const Graph& graph_;
  int32_t equation_;
  const Primitive& primitive_;
  std::chrono::steady_clock::time_point begin_;
};

/// While one of these lives, steps that this thread times count as steps within another one: for
/// threads that help with it.
class WithinStep {
 public:
  WithinStep();
  ~WithinStep();
  WithinStep(const WithinStep&) = delete;
  WithinStep& operator=(const WithinStep&) = delete;
};

}  // namespace spruce::internal
