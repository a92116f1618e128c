// SPDX-License-Identifier: Apache-2.0
// A scan whose body is a tiny graph runs as one piece of machine code.
#include "spruce/core/fusion/tiny.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/group.h"
#include "spruce/transforms/control/loops/scan_rules.h"

namespace spruce::internal {
namespace {

constexpr int64_t kMostWork = 12000;  // scalar operations of one step

// The body with the equations that groups of them were made of.
Graph flattened(const Graph& body) {
  return rebuild(body, [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    const GraphPtr group = rules::group_body(e);
    if (group == nullptr) {
      out.equations.push_back(std::move(e));
      return;
    }
    const std::vector<ValueId> by = splice(out, *group, e.inputs);
    for (size_t k = 0; k < by.size(); ++k) renamed[at(e.outputs[k])] = by[k];
  });
}

bool is_tiny(const Graph& g) {
  int64_t sum = 0;
  for (const Equation& e : g.equations) {
    const int64_t work = fusion::tiny_work(g, e);
    if (work < 0) return false;
    sum += work;
  }
  const auto small = [&](ValueId v) {
    const int64_t n = g.avals[at(v)].shape.numel();
    return n > 0 && n <= fusion::kTinyElements;
  };
  for (const ValueId v : g.inputs) {
    if (!small(v)) return false;
  }
  for (const ValueId v : g.outputs) {
    if (!small(v)) return false;
  }
  return sum <= kMostWork;
}

class TinyScan final : public PreparedKernel {
 public:
  TinyScan(std::unique_ptr<const fusion::TinyKernel> code, int64_t length, size_t pointers)
      : code_(std::move(code)), length_(length), pointers_(pointers) {}

  void run(const KernelArgs& a) const override {
    void** pointers = static_cast<void**>(a.workspace);
    void** outputs = pointers + a.in.size();
    for (size_t i = 0; i < a.in.size(); ++i) pointers[i] = a.in[i].data;
    for (size_t k = 0; k < a.out.size(); ++k) outputs[k] = a.out[k].data;
    code_->run(pointers, outputs, length_);
  }
  size_t workspace_bytes() const override { return pointers_ * sizeof(void*); }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  std::unique_ptr<const fusion::TinyKernel> code_;
  int64_t length_;
  size_t pointers_;
};

}  // namespace

std::unique_ptr<const PreparedKernel> tiny_scan(const ScanParams& p) {
  const Graph body = flattened(*p.body);
  if (!is_tiny(body)) return nullptr;
  auto code = fusion::make_tiny_loop(body, {p.consts, p.carry, p.reverse});
  if (code == nullptr) return nullptr;
  return std::make_unique<TinyScan>(std::move(code), p.length,
                                    body.inputs.size() + body.outputs.size());
}

}  // namespace spruce::internal
