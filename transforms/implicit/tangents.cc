// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/implicit/tangents.h"

#include "spruce/transforms/derive/dual.h"

namespace spruce::internal {

BodyDerivative::BodyDerivative(const Graph& body, std::span<const Array> in, const Mask& varies) {
  DualInterpreter dual("grad", &tape_);
  std::vector<Array> primals(in.begin(), in.end());
  for (size_t i = 0; i < primals.size(); ++i) {
    if (varies[i]) primals[i] = dual.make(primals[i], tape_.input(primals[i].aval()));
  }
  const InterpreterScope scope(&dual);
  for (const Array& out : apply_graph(body, primals)) outputs_.push_back(dual.tangent(out));
}

std::vector<Array> BodyDerivative::operator()(std::span<const Array> tangents) const {
  return tape_.apply(outputs_, tangents);
}

std::vector<Array> body_tangents(const GraphPtr& body, std::span<const Array> in,
                                 std::span<const Array> tangents) {
  Mask varies;
  std::vector<Array> moving;
  for (const Array& t : tangents) {
    varies.push_back(t.defined());
    if (t.defined()) moving.push_back(t);
  }
  const size_t n = body->outputs.size();
  if (moving.empty()) return std::vector<Array>(n);
  if (in_reverse_mode(moving)) return BodyDerivative(*body, in, varies)(moving);
  JvpBody both = jvp_body(body, varies, Mask(n, false));
  both.graph.outputs.erase(both.graph.outputs.begin(),
                           both.graph.outputs.begin() + static_cast<ptrdiff_t>(n));
  std::vector<Array> all(in.begin(), in.end());
  all.insert(all.end(), moving.begin(), moving.end());
  const std::vector<Array> some = apply_graph(both.graph, all);
  std::vector<Array> out(n);
  for (size_t k = 0, next = 0; k < n; ++k) {
    if (both.out_varies[k]) out[k] = some[next++];
  }
  return out;
}

}  // namespace spruce::internal
