// SPDX-License-Identifier: Apache-2.0
// Runs a while_loop: the plans of its condition and body by turns.
#include "spruce/core/debug.h"
#include "spruce/core/interpreter.h"
#include "spruce/transforms/control/body/body_plan.h"
#include "spruce/transforms/control/loops/while_rules.h"

namespace spruce::internal {
namespace {

class WhileKernel final : public PreparedKernel {
 public:
  WhileKernel(const WhileParams& p, size_t inputs)
      : most_(p.max_steps),
        condition_consts_(static_cast<size_t>(p.condition_consts)),
        body_consts_(static_cast<size_t>(p.body_consts)),
        carry_(inputs - condition_consts_ - body_consts_),
        more_(layout_.add(sizeof(bool))),
        condition_(*p.condition, condition_consts_, 0, layout_),
        body_(*p.body, body_consts_, carry_, layout_) {}

  void run(const KernelArgs& args) const override {
    const std::span<const View> init = args.in.subspan(condition_consts_ + body_consts_);
    const BodyPlan::Frame ask = condition_.bind(args.workspace), f = body_.bind(args.workspace);
    for (size_t i = 0; i < condition_consts_; ++i) ask.in[i] = args.in[i].data;
    for (size_t i = 0; i < body_consts_; ++i) f.in[i] = args.in[condition_consts_ + i].data;
    auto* more = reinterpret_cast<bool*>(static_cast<char*>(args.workspace) + more_);
    ask.out[0] = more;
    for (int64_t n = 0;; ++n) {
      for (size_t i = 0; i < carry_; ++i)
        ask.in[condition_consts_ + i] = n == 0 ? init[i].data : f.out[i];
      *more = n != most_;
      if (*more) condition_.run(ask);
      if (!*more) return finish(f, n, init, args.out);
      body_.move_carry(f, n == 0, n % 2 == 0, init, args.out, args.workspace);
      body_.run(f);
    }
  }
  size_t workspace_bytes() const override { return layout_.bytes(); }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  // Which step was the last is known only now: the carry may still stand in its second place.
  void finish(const BodyPlan::Frame& f, int64_t steps, std::span<const View> init,
              std::span<const View> out) const {
    for (size_t i = 0; i < carry_; ++i) {
      const View last{steps == 0 ? init[i].data : f.out[i], out[i].aval};
      copy_views({&last, 1}, out.subspan(i, 1));
    }
  }

  int64_t most_;
  size_t condition_consts_, body_consts_, carry_;
  BlockLayout layout_{kBodyAlignment};
  size_t more_;
  BodyPlan condition_, body_;
};

// For devices other than the CPU, and where each operation is to be checked.
std::vector<Array> run_by_steps(std::span<const Array> in, const WhileParams& p) {
  const auto first = in.begin() + static_cast<ptrdiff_t>(p.condition_consts),
             second = first + static_cast<ptrdiff_t>(p.body_consts);
  std::vector<Array> carry(second, in.end());
  const StepFunction condition(p.condition), body(p.body);
  const auto applied = [&](const StepFunction& f, auto begin, auto end) {
    std::vector<Array> args(begin, end);
    args.insert(args.end(), carry.begin(), carry.end());
    return f(std::move(args));
  };
  for (int64_t n = 0; n != p.max_steps; ++n) {
    if (!applied(condition, in.begin(), first)[0].item<bool>()) break;
    carry = applied(body, first, second);
  }
  return carry;
}

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_while(const PrepareArgs& args) {
  return std::make_unique<const WhileKernel>(args.params.get<WhileParams>(), args.in.size());
}

std::vector<Array> run_while(std::span<const Array> in, const Params& params) {
  if (debug_nans() || !on_cpu(in)) return run_by_steps(in, params.get<WhileParams>());
  return run_prepared(while_loop_p, in, params, prepare_while);
}

}  // namespace spruce::internal
