// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/step_times.h"

#include <chrono>
#include <utility>

#include "spruce/core/error.h"
#include "spruce/core/step_run.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {

StepTimes::StepTimes(Context& context, std::vector<int32_t> equations)
    : context_(context), equations_(std::move(equations)) {}

StepTimes::~StepTimes() {
  if (events_.empty()) return;
  try {
    context_.enter();
  } catch (const Error&) {
    return;  // at the end of the program the driver may be gone
  }
  for (CUevent event : events_) driver().cuEventDestroy(event);
}

void StepTimes::begin() {
  while (events_.size() <= equations_.size()) {
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
    events_.push_back(event);
  }
}

void StepTimes::mark(CUstream stream, size_t k) {
  const DriverTable& d = driver();
  // In a graph the event is a node, which each launch reaches anew.
  check(stream == context_.capture_stream()
            ? d.cuEventRecordWithFlags(events_[k], stream, CU_EVENT_RECORD_EXTERNAL)
            : d.cuEventRecord(events_[k], stream),
        "cuEventRecord");
}

void StepTimes::report(const Graph& graph) const {
  using Clock = internal::StepRun::Clock;
  context_.wait("profile");
  if (equations_.empty()) return;
  const Clock::time_point end = Clock::now();
  const auto when = [&](size_t k) {
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, events_[k], events_.back()),
          "cuEventElapsedTime");
    return end - std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double, std::milli>(milliseconds));
  };
  Clock::time_point begin = when(0);
  for (size_t k = 0; k < equations_.size(); ++k) {
    const Clock::time_point next = when(k + 1);
    internal::add_to_profile({this, &graph, equations_[k], "copies of results", begin, next});
    begin = next;
  }
}

}  // namespace spruce::cuda
