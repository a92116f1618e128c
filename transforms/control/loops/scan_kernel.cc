// SPDX-License-Identifier: Apache-2.0
// Runs a scan: the plan of its body once a step, on slices where they stand.
#include <algorithm>

#include "spruce/core/debug.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/core/step_run.h"
#include "spruce/core/workspace.h"
#include "spruce/transforms/compile/cost.h"
#include "spruce/transforms/control/body/body_plan.h"
#include "spruce/transforms/control/loops/scan_rules.h"

namespace spruce::internal {
namespace {

constexpr double kThread = 1 << 18;                // operations that are worth a thread
constexpr size_t kMostOnThread = size_t{8} << 20;  // bytes that a thread may take for a body

class ScanKernel final : public PreparedKernel {
 public:
  explicit ScanKernel(const ScanParams& p)
      : length_(p.length),
        consts_(static_cast<size_t>(p.consts)),
        carry_(static_cast<size_t>(p.carry)),
        reverse_(p.reverse),
        body_(*p.body, consts_, carry_, layout_),
        steps_of_a_thread_(steps_of_a_thread(p)) {}

  void run(const KernelArgs& args) const override {
    if (length_ == 0) return copy_views(args.in.subspan(consts_, carry_), args.out.first(carry_));
    if (steps_of_a_thread_ == 0) return run_steps(args, args.workspace, 0, length_);
    cpu::parallel_pieces(length_, steps_of_a_thread_, [&](int64_t begin, int64_t end) {
      if (end - begin == length_) return run_steps(args, args.workspace, begin, end);
      const WithinStep within;
      const cpu::Workspace own(layout_.bytes());
      run_steps(args, own.data(), begin, end);
    });
  }
  size_t workspace_bytes() const override { return layout_.bytes(); }
  // A carry that steps write over may do so where it comes in.
  bool in_place(size_t in, size_t out) const override {
    return out < carry_ && in == consts_ + out && body_.in_place(out);
  }

 private:
  void run_steps(const KernelArgs& args, void* workspace, int64_t begin, int64_t end) const {
    const std::span<const View> init = args.in.subspan(consts_, carry_),
                                last = args.out.first(carry_);
    const BodyPlan::Frame f = body_.bind(workspace);
    for (size_t i = 0; i < consts_; ++i) f.in[i] = args.in[i].data;
    for (int64_t n = begin; n < end; ++n) {
      const int64_t step = reverse_ ? length_ - 1 - n : n;
      body_.move_carry(f, n == 0, (length_ - n) % 2 == 1, init, last, workspace);
      for (size_t i = consts_ + carry_; i < args.in.size(); ++i)
        f.in[i] = args.in[i].as<const char>() + step * body_.input(i).bytes();
      for (size_t k = carry_; k < args.out.size(); ++k)
        f.out[k] = args.out[k].as<char>() + step * body_.output(k).bytes();
      body_.run(f);
    }
  }
  // Without a carry, steps are independent: how many are worth a thread, which needs the memory of
  // a body for itself; 0 where they are better run one after the other.
  int64_t steps_of_a_thread(const ScanParams& p) const {
    if (carry_ > 0 || length_ < 2 || layout_.bytes() > kMostOnThread) return 0;
    for (const Equation& e : p.body->equations) {
      if (e.primitive->call != nullptr) return 0;  // it may call back, or have steps of its own
    }
    const Cost cost = analyze_cost(*p.body).total;
    const double work = cost.flops + (cost.bytes_read + cost.bytes_written) / 4;
    return static_cast<int64_t>(std::max(1.0, kThread / std::max(work, 1.0)));
  }

  int64_t length_;
  size_t consts_, carry_;
  bool reverse_;
  BlockLayout layout_{kBodyAlignment};
  BodyPlan body_;
  int64_t steps_of_a_thread_;
};

// For devices other than the CPU, and where each operation is to be checked.
std::vector<Array> run_by_steps(std::span<const Array> in, const ScanParams& p) {
  const auto consts = static_cast<ptrdiff_t>(p.consts), carry = static_cast<ptrdiff_t>(p.carry);
  std::vector<Array> last(in.begin() + consts, in.begin() + consts + carry);
  const std::vector<Aval> types = output_avals(*p.body);
  std::vector<std::vector<Array>> ys(types.size() - last.size());
  const StepFunction body(p.body);
  for (int64_t n = 0; n < p.length; ++n) {
    const int64_t step = p.reverse ? p.length - 1 - n : n;
    std::vector<Array> args(in.begin(), in.begin() + consts);
    args.insert(args.end(), last.begin(), last.end());
    for (auto x = in.begin() + consts + carry; x != in.end(); ++x)
      args.push_back((*x)[Index(step)]);
    const std::vector<Array> out = body(std::move(args));
    std::copy(out.begin(), out.begin() + carry, last.begin());
    for (size_t k = 0; k < ys.size(); ++k) {
      const Array& y = out[last.size() + k];
      ys[k].push_back(rules::to_device(y, types[last.size() + k].device));
    }
  }
  for (std::vector<Array>& y : ys) {
    if (p.reverse) std::reverse(y.begin(), y.end());
    Aval type = types[last.size()];
    type.shape.insert(0, 0);
    last.push_back(y.empty() ? make_array(type) : stack(y));
  }
  return last;
}

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_scan(const PrepareArgs& args) {
  const auto& params = args.params.get<ScanParams>();
  if (auto kernel = tiny_scan(params)) return kernel;
  return std::make_unique<const ScanKernel>(params);
}

std::vector<Array> run_scan(std::span<const Array> in, const Params& params) {
  if (debug_nans() || !on_cpu(in)) return run_by_steps(in, params.get<ScanParams>());
  return run_prepared(scan_p, in, params, prepare_scan);
}

}  // namespace spruce::internal
