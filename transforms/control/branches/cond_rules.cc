// SPDX-License-Identifier: Apache-2.0
// Derivatives of cond. Branches must have the same outputs: a tangent that one of them alone gives
// is zero in the others.
#include "spruce/transforms/control/branches/cond_rules.h"

#include <algorithm>

#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/branches/branch_residuals.h"
#include "spruce/transforms/derive/tape.h"

namespace spruce::internal {
namespace {

void unite(Mask& a, const Mask& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
}

void forward_mode(const JvpArgs& a, CondParams p, const Mask& varies) {
  Mask asked(a.out.size(), false);
  for (const GraphPtr& g : p.branches) unite(asked, jvp_body(g, varies, asked).out_varies);
  for (GraphPtr& g : p.branches)
    g = std::make_shared<const Graph>(jvp_body(g, varies, asked).graph);
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t i = 0; i < varies.size(); ++i) {
    if (varies[i]) in.push_back(a.tangents[i + 1]);
  }
  const std::vector<Array> out = rules::cond(p, in);
  size_t next = a.out.size();
  for (size_t k = 0; k < a.out.size(); ++k) {
    a.out[k] = out[k];
    if (asked[k]) a.out_tangents[k] = out[next++];
  }
}

// Marks the inputs of a branch that are residuals of it, and takes them out of both graphs: the
// linear part gets them as they are, instead of a copy that the forward part hands on. The values
// that stand for them there are returned, one for each input, or -1.
std::vector<ValueId> take_inputs(LinearBody& b, size_t outputs, Mask& needed) {
  std::vector<ValueId> places(b.forward.inputs.size(), -1);
  std::vector<ValueId> kept(b.forward.outputs.begin(),
                            b.forward.outputs.begin() + static_cast<ptrdiff_t>(outputs));
  std::vector<ValueId> inputs;
  for (size_t n = 0; n < b.residuals; ++n) {
    const ValueId residual = b.forward.outputs[outputs + n];
    const auto at = std::find(b.forward.inputs.begin(), b.forward.inputs.end(), residual);
    const auto i = static_cast<size_t>(at - b.forward.inputs.begin());
    if (at == b.forward.inputs.end() || places[i] >= 0) {
      kept.push_back(residual);
      inputs.push_back(b.linear.inputs[n]);
      continue;
    }
    needed[i] = true;
    places[i] = b.linear.inputs[n];
  }
  inputs.insert(inputs.end(), b.linear.inputs.begin() + static_cast<ptrdiff_t>(b.residuals),
                b.linear.inputs.end());
  b.residuals = kept.size() - outputs;
  b.forward.outputs = std::move(kept);
  b.linear.inputs = std::move(inputs);
  return places;
}

// Gives the linear part of a branch the needed inputs, in front.
void add_inputs(LinearBody& b, const std::vector<ValueId>& places, const Mask& needed) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Aval& type = b.forward.avals[static_cast<size_t>(b.forward.inputs[i])];
    inputs.push_back(places[i] >= 0 ? places[i] : b.linear.add_value(type));
  }
  inputs.insert(inputs.end(), b.linear.inputs.begin(), b.linear.inputs.end());
  b.linear.inputs = std::move(inputs);
}

void reverse_mode(const JvpArgs& a, const CondParams& p, const Mask& varies) {
  Mask asked(a.out.size(), false);
  for (const GraphPtr& g : p.branches) unite(asked, linearize_body(g, varies, asked).out_varies);
  std::vector<LinearBody> bodies;
  std::vector<std::vector<ValueId>> places;
  Mask needed(a.in.size() - 1, false);
  for (const GraphPtr& g : p.branches) {
    bodies.push_back(linearize_body(g, varies, asked));
    places.push_back(take_inputs(bodies.back(), a.out.size(), needed));
  }
  const BranchResiduals residuals = common_residuals(bodies, a.out.size());
  CondParams forward, linear;
  for (size_t n = 0; n < bodies.size(); ++n) {
    LinearBody& b = bodies[n];
    spread_residuals(b, a.out.size(), residuals);
    add_inputs(b, places[n], needed);
    forward.branches.push_back(std::make_shared<const Graph>(std::move(b.forward)));
    linear.branches.push_back(std::make_shared<const Graph>(std::move(b.linear)));
  }
  const std::vector<Array> out = rules::cond(forward, a.in);
  std::vector<Array> in{a.in[0]};
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) in.push_back(a.in[i + 1]);
  }
  in.insert(in.end(), out.begin() + static_cast<ptrdiff_t>(a.out.size()), out.end());
  for (size_t i = 0; i < varies.size(); ++i) {
    if (varies[i]) in.push_back(a.tangents[i + 1]);
  }
  const std::vector<Array> tangents = rules::cond(linear, in);
  for (size_t k = 0, next = 0; k < a.out.size(); ++k) {
    a.out[k] = out[k];
    if (asked[k]) a.out_tangents[k] = tangents[next++];
  }
}

}  // namespace

void jvp_of_cond(const JvpArgs& a) {
  const auto& p = a.params.get<CondParams>();
  Mask varies;
  for (const Array& t : a.tangents.subspan(1)) varies.push_back(t.defined());
  if (in_reverse_mode(a.tangents))
    reverse_mode(a, p, varies);
  else
    forward_mode(a, p, varies);
}

void transpose_of_cond(const TransposeArgs& a) {
  CondParams p = a.params.get<CondParams>();
  Mask linear, cts, asked(a.in.size() - 1, false);
  for (size_t i = 1; i < a.in.size(); ++i) linear.push_back(a.linear(i));
  for (const Array& ct : a.cts) cts.push_back(ct.defined());
  for (const GraphPtr& g : p.branches) unite(asked, transpose_body(g, linear, cts, asked).in_cts);
  for (GraphPtr& g : p.branches)
    g = std::make_shared<const Graph>(transpose_body(g, linear, cts, asked).graph);
  std::vector<Array> in;
  for (size_t i = 0; i < a.in.size(); ++i) {
    if (!a.linear(i)) in.push_back(a.in[i]);
  }
  for (const Array& ct : a.cts) {
    if (ct.defined()) in.push_back(ct);
  }
  const std::vector<Array> out = rules::cond(p, in);
  for (size_t i = 1, next = 0; i < a.in.size(); ++i) {
    if (asked[i - 1]) a.out[i] = out[next++];
  }
}

}  // namespace spruce::internal
