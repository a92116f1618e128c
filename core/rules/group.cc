// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/group.h"

namespace spruce::rules {

std::vector<Aval> group_shapes(const ShapeArgs& a) {
  const GraphPtr& body = a.params.get<GroupParams>().body;
  if (body == nullptr) throw GraphError(std::string(a.op) + ": has no body");
  if (a.in.size() != body->inputs.size()) {
    throw ShapeError(std::string(a.op) + ": the body has " + std::to_string(body->inputs.size()) +
                     " inputs, " + std::to_string(a.in.size()) + " are given");
  }
  for (size_t i = 0; i < a.in.size(); ++i) {
    const Aval& want = body->avals[spruce::internal::at(body->inputs[i])];
    if (want.dtype != a.in[i]->dtype || !(want.shape == a.in[i]->shape)) {
      throw ShapeError(std::string(a.op) + ": input " + std::to_string(i) + " is " +
                       to_string(*a.in[i]) + ", the body takes " + to_string(want));
    }
  }
  std::vector<Aval> out;
  for (const ValueId v : body->outputs) out.push_back(body->avals[spruce::internal::at(v)]);
  return out;
}

std::vector<Array> group_expand(std::span<const Array> in, const Params& params) {
  return spruce::internal::apply_graph(*params.get<GroupParams>().body, in);
}

}  // namespace spruce::rules
