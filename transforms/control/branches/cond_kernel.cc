// SPDX-License-Identifier: Apache-2.0
// Runs the branch of a cond that is chosen.
#include <algorithm>

#include "spruce/core/debug.h"
#include "spruce/core/interpreter.h"
#include "spruce/transforms/control/body/body_plan.h"
#include "spruce/transforms/control/branches/cond_rules.h"

namespace spruce::internal {
namespace {

size_t chosen(int32_t index, size_t branches) {
  return static_cast<size_t>(std::clamp(index, 0, static_cast<int32_t>(branches) - 1));
}

class CondKernel final : public PreparedKernel {
 public:
  explicit CondKernel(const CondParams& p) {
    for (const GraphPtr& g : p.branches) {
      BlockLayout layout(kBodyAlignment);  // one branch runs: all may have the same memory
      branches_.push_back(std::make_unique<const BodyPlan>(*g, 0, 0, layout));
      bytes_ = std::max(bytes_, layout.bytes());
    }
  }

  void run(const KernelArgs& args) const override {
    const BodyPlan& branch = *branches_[chosen(*args.in[0].as<int32_t>(), branches_.size())];
    const BodyPlan::Frame f = branch.bind(args.workspace);
    for (size_t i = 1; i < args.in.size(); ++i) f.in[i - 1] = args.in[i].data;
    for (size_t k = 0; k < args.out.size(); ++k) f.out[k] = args.out[k].data;
    branch.run(f);
  }
  size_t workspace_bytes() const override { return bytes_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  std::vector<std::unique_ptr<const BodyPlan>> branches_;
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_cond(const PrepareArgs& args) {
  return std::make_unique<const CondKernel>(args.params.get<CondParams>());
}

std::vector<Array> run_cond(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<CondParams>();
  const GraphPtr& branch = p.branches[chosen(in[0].item<int32_t>(), p.branches.size())];
  if (debug_nans() || !on_cpu(in)) return StepFunction(branch)({in.begin() + 1, in.end()});
  return run_prepared(cond_p, in, params, prepare_cond);
}

}  // namespace spruce::internal
