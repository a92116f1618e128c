// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/executable.h"

#include <vector>

#include "spruce/core/primitive.h"
#include "spruce/core/step_run.h"
#include "spruce/cuda/cuda.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/device/program.h"
#include "spruce/cuda/driver/ranges.h"
#include "spruce/cuda/plan/graph_cache.h"
#include "spruce/cuda/plan/step_times.h"

namespace spruce::cuda {
namespace {

// More are enqueued at each call: the memory of a graph and the time to make it grow with them,
// what it spares at a call does not.
constexpr int64_t kMostRecorded = 4096;

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(const Graph& graph, CudaDevice& device)
      : device_(device),
        program_(on_gpu(graph, device.index()), device),
        recorded_(!program_.needs_host() && program_.launches() <= kMostRecorded),
        times_(device.context()),
        cuda_graphs_(device.context()) {}

  int64_t donor(size_t k) const override { return program_.donor(k); }

  void run(std::span<const View> in, std::span<const View> out, bool& began) const override {
    const CudaDevice::Arena arena(device_, program_.arena_bytes());
    const Range range("jit");
    Context& context = device_.context();
    const bool timed = internal::profile_step.load(std::memory_order_relaxed) != nullptr;
    context.enter();
    if (timed) times_.reserve(program_.steps() + 2);
    std::vector<void*> addresses;
    for (const View& v : in) addresses.push_back(v.data);
    for (const View& v : out) addresses.push_back(v.data);
    addresses.push_back(arena.data());
    const auto run_all = [&](CUstream stream) {
      if (timed) times_.begin();
      program_.enqueue(stream, addresses, timed ? &times_ : nullptr);
    };
    began = true;
    if (!recorded_ || (timed && program_.has_control())) {
      run_all(context.stream());
    } else {
      // As a graph the steps follow each other without the host, whose time is not theirs.
      const int mode = 2 * static_cast<int>(matmul_precision()) + (timed ? 1 : 0);
      cuda_graphs_.run(addresses, mode, timed, run_all);
    }
    context.enqueued("jit");
    if (timed) times_.report();
  }

 private:
  CudaDevice& device_;
  Program program_;
  bool recorded_;
  mutable StepTimes times_;  // these two under the lock of the arena
  mutable GraphCache cuda_graphs_;
};

}  // namespace

std::unique_ptr<const Executable> make_executable(const Graph& graph, CudaDevice& device) {
  return std::make_unique<const CudaExecutable>(graph, device);
}

}  // namespace spruce::cuda
