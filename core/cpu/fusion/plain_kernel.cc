// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/plain_kernel.h"

#include <cstring>

#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

using spruce::internal::at, spruce::internal::is_view;

class PlainKernel final : public PreparedKernel {
 public:
  explicit PlainKernel(GraphPtr body) : body_(std::move(body)), offset_(body_->avals.size(), 0) {
    for (const Equation& e : body_->equations) {
      if (is_view(e)) continue;
      for (const ValueId v : e.outputs) {
        offset_[at(v)] = bytes_;
        bytes_ += workspace_size(static_cast<size_t>(body_->avals[at(v)].bytes()));
      }
    }
  }

  void run(const KernelArgs& args) const override {
    const Graph& g = *body_;
    std::vector<View> views(g.avals.size());
    const auto set = [&](ValueId v, void* data) { views[at(v)] = {data, &g.avals[at(v)]}; };
    for (size_t i = 0; i < g.inputs.size(); ++i) set(g.inputs[i], args.in[i].data);
    for (const Graph::Constant& c : g.constants) set(c.id, spruce::internal::mutable_data(c.value));
    std::vector<View> in, out;
    for (const Equation& e : g.equations) {
      if (is_view(e)) {
        set(e.outputs[0], views[at(e.inputs[0])].data);
        continue;
      }
      in.clear();
      out.clear();
      for (const ValueId v : e.inputs) in.push_back(views[at(v)]);
      for (const ValueId v : e.outputs) {
        set(v, static_cast<char*>(args.workspace) + offset_[at(v)]);
        out.push_back(views[at(v)]);
      }
      e.primitive->cpu({in, out, e.params});
    }
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      const View& v = views[at(g.outputs[k])];
      const auto bytes = static_cast<size_t>(v.aval->bytes());
      if (bytes > 0) std::memcpy(args.out[k].data, v.data, bytes);
    }
  }
  size_t workspace_bytes() const override { return bytes_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  GraphPtr body_;
  std::vector<size_t> offset_;  // by value: in the workspace
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedKernel> plain_kernel(const GraphPtr& body) {
  return std::make_unique<const PlainKernel>(body);
}

}  // namespace spruce::cpu
