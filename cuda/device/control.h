// SPDX-License-Identifier: Apache-2.0
// Loops and branches of a compiled function. A scan knows how many steps it takes: it is enqueued,
// and recorded, as that many programs one after the other. A while_loop and a cond read their
// condition on the host.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/cuda/plan/step_times.h"
#include "spruce/cuda/plan/steps.h"

namespace spruce::cuda {

class CudaDevice;

/// One of them, for a device. Immutable.
class Control {
 public:
  virtual ~Control() = default;
  /// Of memory that is its own while it runs, aligned to 256.
  virtual size_t workspace_bytes() const = 0;
  /// As Kernels::in_place.
  virtual std::vector<InPlace> in_place() const { return {}; }
  /// As Program::needs_host().
  virtual bool needs_host() const = 0;
  /// As Program::launches(), of one step where their number is not known.
  virtual int64_t launches() const = 0;
  /// Enqueues it, as Steps::enqueue(); all inputs are in memory of the device.
  virtual void enqueue(CUstream stream, const Steps::Memory& memory, StepTimes* times) const = 0;
};

/// What runs the equation, which is that of a graph on_gpu(); null for one of another kind.
std::unique_ptr<const Control> make_control(const Equation& e, CudaDevice& device);

}  // namespace spruce::cuda
