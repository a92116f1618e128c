// SPDX-License-Identifier: Apache-2.0
// Runs a scan: the plan of its body once a step, on slices where they stand.
#include <algorithm>

#include "spruce/core/debug.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/transforms/control/body_plan.h"
#include "spruce/transforms/control/scan_rules.h"

namespace spruce::internal {
namespace {

class ScanKernel final : public PreparedKernel {
 public:
  explicit ScanKernel(const ScanParams& p)
      : length_(p.length),
        consts_(static_cast<size_t>(p.consts)),
        carry_(static_cast<size_t>(p.carry)),
        reverse_(p.reverse),
        body_(*p.body, consts_, carry_, layout_) {}

  void run(const KernelArgs& args) const override {
    const std::span<const View> init = args.in.subspan(consts_, carry_),
                                last = args.out.first(carry_);
    if (length_ == 0) return copy_views(init, last);
    const BodyPlan::Frame f = body_.bind(args.scratch);
    for (size_t i = 0; i < consts_; ++i) f.in[i] = args.in[i].data;
    for (int64_t n = 0; n < length_; ++n) {
      const int64_t step = reverse_ ? length_ - 1 - n : n;
      body_.move_carry(f, n == 0, (length_ - n) % 2 == 1, init, last, args.scratch);
      for (size_t i = consts_ + carry_; i < args.in.size(); ++i)
        f.in[i] = args.in[i].as<const char>() + step * body_.input(i).bytes();
      for (size_t k = carry_; k < args.out.size(); ++k)
        f.out[k] = args.out[k].as<char>() + step * body_.output(k).bytes();
      body_.run(f);
    }
  }
  size_t scratch_bytes() const override { return layout_.bytes(); }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  int64_t length_;
  size_t consts_, carry_;
  bool reverse_;
  Layout layout_;
  BodyPlan body_;
};

// One operation after the other, each checked.
std::vector<Array> run_by_steps(std::span<const Array> in, const ScanParams& p) {
  const auto consts = static_cast<ptrdiff_t>(p.consts), carry = static_cast<ptrdiff_t>(p.carry);
  std::vector<Array> last(in.begin() + consts, in.begin() + consts + carry);
  const std::vector<Aval> types = output_avals(*p.body);
  std::vector<std::vector<Array>> ys(types.size() - last.size());
  for (int64_t n = 0; n < p.length; ++n) {
    const int64_t step = p.reverse ? p.length - 1 - n : n;
    std::vector<Array> args(in.begin(), in.begin() + consts);
    args.insert(args.end(), last.begin(), last.end());
    for (auto x = in.begin() + consts + carry; x != in.end(); ++x)
      args.push_back((*x)[Index(step)]);
    const std::vector<Array> out = evaluate(*p.body, args);
    std::copy(out.begin(), out.begin() + carry, last.begin());
    for (size_t k = 0; k < ys.size(); ++k) ys[k].push_back(out[last.size() + k]);
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
  if (debug_nans()) return run_by_steps(in, params.get<ScanParams>());
  return run_prepared(scan_p, in, params, prepare_scan);
}

}  // namespace spruce::internal
