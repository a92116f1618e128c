// SPDX-License-Identifier: Apache-2.0
// Operations over arrays of a few elements that run as straight-line code. Made by the pass `tiny`,
// never by users.
#include "spruce/core/fusion/tiny.h"

#include <cstring>

#include "spruce/core/rules/group.h"

namespace spruce {
namespace {

// Equation by equation, where there is no code.
void tiny_kernel(const KernelArgs& a) {
  const Graph& g = *a.params.get<GroupParams>().body;
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<View> views(g.avals.size());
  const auto set = [&](ValueId v, void* data) {
    views[static_cast<size_t>(v)] = {data, &g.avals[static_cast<size_t>(v)]};
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) set(g.inputs[i], a.in[i].data);
  for (const Graph::Constant& c : g.constants) set(c.id, internal::mutable_data(c.value));
  std::vector<View> in, out;
  for (const Equation& e : g.equations) {
    in.clear();
    out.clear();
    for (const ValueId v : e.inputs) in.push_back(views[static_cast<size_t>(v)]);
    if (e.primitive->kind == PrimitiveKind::kView) {
      set(e.outputs[0], in[0].data);
      continue;
    }
    for (const ValueId v : e.outputs) {
      const size_t bytes = static_cast<size_t>(g.avals[static_cast<size_t>(v)].bytes());
      memory.push_back(std::make_unique<char[]>(bytes + 1));
      set(v, memory.back().get());
      out.push_back(views[static_cast<size_t>(v)]);
    }
    e.primitive->cpu({in, out, e.params});
  }
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const View& from = views[static_cast<size_t>(g.outputs[k])];
    std::memcpy(a.out[k].data, from.data, static_cast<size_t>(from.aval->bytes()));
  }
}

class Prepared final : public PreparedKernel {
 public:
  Prepared(std::unique_ptr<const fusion::TinyKernel> code, size_t pointers)
      : code_(std::move(code)), pointers_(pointers) {}

  void run(const KernelArgs& a) const override {
    void** pointers = static_cast<void**>(a.workspace);
    void** outputs = pointers + a.in.size();
    for (size_t i = 0; i < a.in.size(); ++i) pointers[i] = a.in[i].data;
    for (size_t k = 0; k < a.out.size(); ++k) outputs[k] = a.out[k].data;
    code_->run(pointers, outputs, 1);
  }
  size_t workspace_bytes() const override { return pointers_ * sizeof(void*); }
  bool in_place(size_t in, size_t out) const override { return code_->in_place(in, out); }

 private:
  std::unique_ptr<const fusion::TinyKernel> code_;
  size_t pointers_;
};

std::unique_ptr<const PreparedKernel> tiny_prepare(const PrepareArgs& a) {
  auto code = fusion::make_tiny(*a.params.get<GroupParams>().body);
  if (code == nullptr) return nullptr;
  return std::make_unique<Prepared>(std::move(code), a.in.size() + a.out.size());
}

}  // namespace

extern constinit const Primitive tiny_p = {
    .name = "tiny",
    .shapes = rules::group_shapes,
    .cpu = tiny_kernel,
    .params = kParamsOf<GroupParams>,
    .kind = PrimitiveKind::kGroup,
    .expand = rules::group_expand,
    .prepare = tiny_prepare,
};

}  // namespace spruce
