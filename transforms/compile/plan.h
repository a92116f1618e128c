// SPDX-License-Identifier: Apache-2.0
// A graph as steps over memory whose places are settled: what a compiled function runs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spruce/core/rules/layouts.h"

namespace spruce::internal {

/// Kernels in order, each with the places of its operands: inputs and outputs of the graph,
/// constants, and offsets into one workspace block. Immutable: any number of threads may run it at
/// once, each with a workspace block of its own. Plans nest: the kernel of a loop holds the plan of
/// its body and runs it in its own workspace.
class Plan {
 public:
  /// Where an output of the graph comes from.
  struct Result {
    enum class From : uint8_t {
      kOwn,       ///< a kernel writes it to the memory of this output
      kInput,     ///< the memory of input `index`, perhaps with another shape
      kConstant,  ///< that of constant `index`
      kOutput,    ///< that of the earlier output `index`
    };
    From from = From::kOwn;
    size_t index = 0;
    /// The input whose memory this output may take over (kOwn only), or -1.
    int64_t donor = -1;
    /// Other inputs that the same kernel reads for the last time: for calls that give up one of
    /// them, but not `donor`.
    std::vector<int64_t> other_donors = {};
  };

  /// With `copy_outputs`, every output is written to memory of its own: inputs, constants and
  /// repeated outputs are copied there. Of several possible donors, output k prefers the input
  /// first_state + k: a state that is passed through keeps its memory. All kernels are the CPU's.
  explicit Plan(Graph graph, bool copy_outputs = false, size_t first_state = 0);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Graph& graph() const { return graph_; }
  std::span<const Result> results() const { return results_; }
  /// Bytes of the workspace block, which is aligned to 64: temporaries and a table of operands.
  size_t workspace_bytes() const { return table_ + views_.size() * sizeof(View); }
  /// Bytes of temporaries in it.
  size_t temporary_bytes() const { return temporaries_; }
  /// The most bytes of temporaries in use at one time: no placement needs less.
  size_t least_temporary_bytes() const { return least_; }

  /// Makes a workspace block ready for any number of runs, one after the other.
  void bind(void* workspace) const;
  /// Runs on `in`, one pointer for each input, and `out`, one for each output that is kOwn (others
  /// are not looked at). out[k] may be in[donor], or that of one of the other donors. Temporaries
  /// may stand in an output's memory until that is written. `*touches` becomes true before the
  /// first step that writes to memory of an output.
  void run(void* workspace, const void* const* in, void* const* out, bool* touches = nullptr) const;

  /// What one step does, for those who report on it.
  struct Step {
    const Primitive* primitive;
    Params params;
    std::shared_ptr<const PreparedKernel> kernel;  // null: primitive->cpu
    uint32_t first_view, inputs, outputs;
    size_t workspace;  // offset of what the kernel needs
    int32_t equation;  // of graph(), or -1 for a copy to an output
  };
  std::span<const Step> steps() const { return steps_; }

 private:
  struct Patch {
    uint32_t view;
    uint32_t index;
    size_t offset;
  };
  class Builder;

  Graph graph_;
  rules::Layouts layouts_;  // whose strides the views refer to
  std::vector<Result> results_;
  std::vector<Step> steps_;
  std::vector<View> views_;       // with the data of constants
  std::vector<uint32_t> moving_;  // the views into temporaries
  std::vector<size_t> offsets_;   // of what they show
  std::vector<Patch> input_patches_, output_patches_;
  size_t table_ = 0, temporaries_ = 0, least_ = 0;
  size_t untouched_ = 0;  // the first steps, which write to no output
};

}  // namespace spruce::internal
