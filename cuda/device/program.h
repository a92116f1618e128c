// SPDX-License-Identifier: Apache-2.0
// A graph made ready for a GPU: the kernels of all its equations over one block of memory. A
// compiled function is one, and so is the body of each of its loops and branches.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/core/rules/layouts.h"
#include "spruce/cuda/plan/layout.h"
#include "spruce/cuda/plan/step_times.h"
#include "spruce/cuda/plan/steps.h"

namespace spruce::cuda {

class CudaDevice;
class Control;

/// The graph with its types and constants, but for numbers, on the device, in nested graphs too.
Graph on_gpu(Graph graph, uint8_t device);

/// Immutable; it is enqueued under the lock of the device's arena.
class Program {
 public:
  /// `graph` is one that on_gpu() made, or nested in one. Output k best takes over the memory of
  /// input `first_carried` + k, where it may.
  Program(const Graph& graph, CudaDevice& device, size_t first_carried = 0);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const Graph& graph() const { return graph_; }
  /// Of the block, which is aligned to 256.
  size_t arena_bytes() const { return layout_.arena_bytes; }
  /// True where the host takes part in some equations: they cannot be recorded.
  bool needs_host() const { return needs_host_; }
  /// True where there are loops or branches.
  bool has_control() const;
  /// How many kernels, calls and copies it enqueues, those of loops as often as they run.
  int64_t launches() const { return launches_; }
  /// As Executable::donor().
  int64_t donor(size_t k) const { return layout_.donors[k]; }
  /// How many equations run.
  size_t steps() const;

  /// Enqueues all of it. `addresses` are those of the inputs, of the outputs and of the block. The
  /// stream is that of the context where the host takes part.
  void enqueue(CUstream stream, std::span<void* const> addresses, StepTimes* times) const;

 private:
  bool runs(size_t n) const;
  char* address(ValueId v, std::span<void* const> addresses) const;
  char* input_address(size_t n, size_t i, std::span<void* const> addresses) const;
  const void* number(ValueId v) const;
  void run_by_host(size_t n, std::span<void* const> addresses) const;
  void copy_outputs(CUstream stream, std::span<void* const> addresses) const;

  CudaDevice& device_;
  Graph graph_;
  rules::Layouts strided_;
  Layout layout_;
  // By equation: which of the two runs it; none for views, and where the host runs it.
  std::vector<std::unique_ptr<const Steps>> steps_;
  std::vector<std::unique_ptr<const Control>> controls_;
  std::vector<Array> constants_;  // on the device
  bool needs_host_ = false;
  int64_t launches_ = 0;
};

}  // namespace spruce::cuda
