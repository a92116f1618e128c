// SPDX-License-Identifier: Apache-2.0
// A compiled graph that is called with arrays: its plan, blocks of memory to run it in, donated
// arguments, and results.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "spruce/core/array.h"
#include "spruce/core/graph/graph.h"
#include "spruce/transforms/compile/placement.h"

namespace spruce::internal {

class Plan;

/// Safe to call from several threads at once: each call has a frame of its own.
class Executor {
 public:
  /// `source` is checked. It is what transforms differentiate and map; what runs is made from it
  /// when it is first called without a transform.
  explicit Executor(Graph source, std::string name = "graph");
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Graph& source() const { return source_; }
  /// How it runs on the CPU. Made on first use.
  const Plan& plan() const;

  /// What one call needs: places for its arguments and results, and a workspace block. Kept for
  /// later calls.
  struct Frame;

 private:
  friend class Call;
  static constexpr size_t kKept = 16;  // frames that wait for calls

  Frame* take() const;
  void give(Frame* frame) const noexcept;
  void run(Frame& frame) const;
  void run_plan(Frame& frame, const Plan& plan) const;
  void run_on(Frame& frame, uint8_t device, const Executable& compiled) const;
  // What another device has compiled, on first use; null where it runs operation by operation.
  const Executable* compiled_by(uint8_t device) const;
  [[noreturn]] void throw_no_memory(const Plan& plan) const;

  Graph source_;
  GraphDevice device_;        // of the source
  std::string name_;          // for the log of compile times and messages
  mutable std::mutex mutex_;  // of making the plan
  mutable std::atomic<const Plan*> plan_{nullptr};
  // By other devices than the CPU; under the mutex.
  mutable std::vector<std::pair<uint8_t, std::unique_ptr<const Executable>>> compiled_;
  mutable std::array<std::atomic<Frame*>, kKept> frames_{};
};

/// One call: `add` an argument for each input of the graph, `run`, and take the results. Arguments
/// that nobody else holds may be overwritten; where nothing was written before an exception, those
/// that were moved in stand again where they stood.
class Call {
 public:
  explicit Call(const Executor& executor) : executor_(executor), frame_(executor.take()) {}
  ~Call() { executor_.give(frame_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void add(const Array& a);
  /// Moves it in from a place that lives until run() has returned.
  void add(Array&& a);
  /// At once, or under the current interpreter if there is one.
  void run();
  Array& result(size_t k);

 private:
  void run_frame();
  void give_back() noexcept;

  const Executor& executor_;
  Executor::Frame* frame_;
};

}  // namespace spruce::internal
