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
  explicit StepTimes(Context& context) : context_(context) {}
  ~StepTimes();
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  /// Makes as many events, which cannot be made while a stream is recorded.
  void reserve(size_t events);
  /// Before steps are enqueued: those of the time before are forgotten.
  void begin();
  /// Enqueues an event, and returns its number.
  size_t mark(CUstream stream);
  /// An equation, or a copy of results where it is -1, ran between two events. Within a
  /// internal::WithinStep it is a step of another one.
  void add(const Graph& graph, int32_t equation, size_t begin, size_t end);
  /// Waits until the steps have run, and gives their times to the profile.
  void report() const;

 private:
  struct Step {
    const Graph* graph;
    int32_t equation;
    bool nested;
    size_t begin, end;  // events
  };
  Context& context_;
  std::vector<CUevent> events_;
  std::vector<Step> steps_;
  size_t marks_ = 0;
};

}  // namespace spruce::cuda
