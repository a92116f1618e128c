// SPDX-License-Identifier: Apache-2.0
// A group of elementwise operations, broadcasts and reductions that run as one. Made by the pass
// `fuse`, never by users.
#include "spruce/core/rules/fused.h"

#include "spruce/core/cpu/fusion/fused_kernel.h"
#include "spruce/core/cpu/workspace.h"

namespace spruce {
namespace {

std::vector<Aval> fused_shapes(const ShapeArgs& a) {
  const GraphPtr& body = a.params.get<FusedParams>().body;
  if (body == nullptr) throw GraphError(std::string(a.op) + ": has no body");
  if (a.in.size() != body->inputs.size()) {
    throw ShapeError(std::string(a.op) + ": the body has " + std::to_string(body->inputs.size()) +
                     " inputs, " + std::to_string(a.in.size()) + " are given");
  }
  for (size_t i = 0; i < a.in.size(); ++i) {
    const Aval& want = body->avals[static_cast<size_t>(body->inputs[i])];
    if (want.dtype != a.in[i]->dtype || !(want.shape == a.in[i]->shape)) {
      throw ShapeError(std::string(a.op) + ": input " + std::to_string(i) + " is " +
                       to_string(*a.in[i]) + ", the body takes " + to_string(want));
    }
  }
  std::vector<Aval> out;
  for (const ValueId v : body->outputs) out.push_back(body->avals[static_cast<size_t>(v)]);
  return out;
}

std::vector<Array> fused_expand(std::span<const Array> in, const Params& params) {
  return internal::apply_graph(*params.get<FusedParams>().body, in);
}

std::unique_ptr<const PreparedKernel> fused_prepare(const PrepareArgs& a) {
  return cpu::fused_kernel(a.params.get<FusedParams>().body);
}

void fused_kernel(const KernelArgs& a) {
  const auto prepared = cpu::fused_kernel(a.params.get<FusedParams>().body);
  const cpu::Workspace workspace(prepared->workspace_bytes());
  prepared->run({a.in, a.out, a.params, workspace.data()});
}

}  // namespace

extern constinit const Primitive fused_p = {
    .name = "fused",
    .shapes = fused_shapes,
    .cpu = fused_kernel,
    .params = kParamsOf<FusedParams>,
    .expand = fused_expand,
    .prepare = fused_prepare,
};

}  // namespace spruce
