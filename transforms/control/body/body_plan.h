// SPDX-License-Identifier: Apache-2.0
// The plan of a body within the workspace of the kernel that runs it.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "spruce/core/block_layout.h"
#include "spruce/core/carry_places.h"
#include "spruce/core/primitive.h"
#include "spruce/transforms/compile/executor.h"
#include "spruce/transforms/compile/plan.h"

namespace spruce::internal {

/// Of the pieces of a kernel's workspace.
inline constexpr size_t kBodyAlignment = 64;

/// A body as a plan, its pointers to operands, and buffers that its carry moves between.
class BodyPlan {
 public:
  /// `carry` inputs, behind `consts` others, are what the first as many outputs become in the next
  /// step.
  BodyPlan(const Graph& body, size_t consts, size_t carry, BlockLayout& layout);

  /// What a run needs to know of its memory.
  struct Frame {
    void* workspace;
    const void** in;
    void** out;
  };
  /// Makes the memory ready. All pointers but those of the carry are for the caller to set.
  Frame bind(void* workspace) const;
  /// Sets where the next step reads and writes the carry: the first reads `init`, others what was
  /// written before them; every second step writes to `outputs`.
  void move_carry(const Frame& f, bool first, bool to_outputs, std::span<const View> init,
                  std::span<const View> outputs, void* workspace) const;
  /// True if each step writes carry i over the one before.
  bool in_place(size_t i) const { return carry_.in_place(i); }
  void run(const Frame& f) const { plan_.run(f.workspace, f.in, f.out); }

  size_t inputs() const { return plan_.graph().inputs.size(); }
  size_t outputs() const { return plan_.graph().outputs.size(); }
  const Aval& input(size_t i) const { return type(plan_.graph().inputs[i]); }
  const Aval& output(size_t k) const { return type(plan_.graph().outputs[k]); }

 private:
  const Aval& type(ValueId v) const { return plan_.graph().avals[static_cast<size_t>(v)]; }

  Plan plan_;
  size_t consts_;
  CarryPlaces carry_;
  size_t workspace_, in_, out_;
};

/// Copies what the views show.
inline void copy_views(std::span<const View> from, std::span<const View> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    const auto bytes = static_cast<size_t>(to[i].aval->bytes());
    if (bytes > 0 && to[i].data != from[i].data) std::memcpy(to[i].data, from[i].data, bytes);
  }
}

/// True if all of them are in memory of the CPU.
bool on_cpu(std::span<const Array> arrays);

/// A body that is run step by step: on the CPU one checked operation after the other, on another
/// device as that device has compiled it.
class StepFunction {
 public:
  explicit StepFunction(const GraphPtr& body);
  std::vector<Array> operator()(std::vector<Array> args) const;

 private:
  std::shared_ptr<const Executor> executor_;
};

/// Runs a primitive with a kernel for its parameters on arrays: `prepare` makes the kernel, from
/// graphs after all passes (see kernel_cache.h).
std::vector<Array> run_prepared(
    const Primitive& p, std::span<const Array> in, const Params& params,
    std::unique_ptr<const PreparedKernel> (*prepare)(const PrepareArgs&));

}  // namespace spruce::internal
