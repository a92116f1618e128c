// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/step_times.h"

#include <chrono>
#include <optional>

#include "spruce/core/error.h"
#include "spruce/core/step_run.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {

StepTimes::~StepTimes() {
  if (events_.empty()) return;
  try {
    context_.enter();
  } catch (const Error&) {
    return;  // at the end of the program the driver may be gone
  }
  for (CUevent event : events_) driver().cuEventDestroy(event);
}

void StepTimes::reserve(size_t events) {
  while (events_.size() < events) {
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
    events_.push_back(event);
  }
}

void StepTimes::begin() {
  steps_.clear();
  marks_ = 0;
}

size_t StepTimes::mark(CUstream stream) {
  const DriverTable& d = driver();
  reserve(marks_ + 1);
  // In a graph the event is a node, which each launch reaches anew.
  check(stream == context_.capture_stream()
            ? d.cuEventRecordWithFlags(events_[marks_], stream, CU_EVENT_RECORD_EXTERNAL)
            : d.cuEventRecord(events_[marks_], stream),
        "cuEventRecord");
  return marks_++;
}

void StepTimes::add(const Graph& graph, int32_t equation, size_t begin, size_t end) {
  steps_.push_back({&graph, equation, internal::WithinStep::any(), begin, end});
}

void StepTimes::report() const {
  using Clock = internal::StepRun::Clock;
  context_.wait("profile");
  if (steps_.empty()) return;
  const Clock::time_point end = Clock::now();
  const auto when = [&](size_t k) {
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, events_[k], events_[marks_ - 1]),
          "cuEventElapsedTime");
    return end - std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double, std::milli>(milliseconds));
  };
  for (const Step& s : steps_) {
    std::optional<internal::WithinStep> within;
    if (s.nested) within.emplace();
    internal::add_to_profile(
        {s.graph, s.graph, s.equation, "copies of results", when(s.begin), when(s.end)});
  }
}

}  // namespace spruce::cuda
