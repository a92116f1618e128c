// SPDX-License-Identifier: Apache-2.0
// The transpose of a linear scan: a scan from the last step to the first, whose carry are the
// cotangents of the carry. Those of the constants add up in the carry as well.
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/loops/scan_rules.h"

namespace spruce::internal {
namespace {

// Makes output `k` the sum of it and of a new input, which is returned.
ValueId accumulate(Graph& g, size_t k) {
  const Aval type = g.avals[static_cast<size_t>(g.outputs[k])];
  const ValueId before = g.add_value(type), after = g.add_value(type);
  g.equations.push_back({&add_p, {}, {before, g.outputs[k]}, {after}, {}});
  g.outputs[k] = after;
  return before;
}

// The inputs that are linear: those that are named, and the carries that become so.
Mask linear_inputs(const TransposeArgs& a, const ScanParams& p) {
  const auto consts = static_cast<size_t>(p.consts), carry = static_cast<size_t>(p.carry);
  Mask linear;
  for (size_t i = 0; i < a.in.size(); ++i) linear.push_back(a.linear(i));
  for (bool again = true; again;) {
    again = false;
    const Mask out = depends(*p.body, linear);
    for (size_t i = 0; i < carry; ++i) {
      if (!out[i] || linear[consts + i]) continue;
      linear[consts + i] = again = true;
    }
  }
  for (size_t i = 0; i < carry; ++i) {
    if (linear[consts + i]) continue;
    throw DerivativeError(
        "scan: a derivative rule carries tangents and values through one loop, which reverse mode "
        "cannot turn around; give each a loop of its own");
  }
  return linear;
}

}  // namespace

void transpose_of_scan(const TransposeArgs& a) {
  ScanParams p = a.params.get<ScanParams>();
  const auto consts = static_cast<size_t>(p.consts), carry = static_cast<size_t>(p.carry),
             first_x = consts + carry, inputs = a.in.size(), outputs = a.cts.size();
  const Mask linear = linear_inputs(a, p);
  Mask cts, asked(inputs, false);
  for (const Array& ct : a.cts) cts.push_back(ct.defined());
  TransposedBody body;
  for (;;) {
    for (size_t i = 0; i < carry; ++i) asked[consts + i] = cts[i];
    body = transpose_body(p.body, linear, cts, asked);
    bool again = false;
    for (size_t i = 0; i < carry; ++i) {
      if (!body.in_cts[consts + i] || cts[i]) continue;
      cts[i] = again = true;
    }
    if (!again) break;
  }

  // The body gives the cotangents of constants, carry and xs in this order, as the outputs must be.
  Graph& g = body.graph;
  std::vector<ValueId> residuals, order;
  std::vector<Array> residual_slices, in;
  for (size_t i = 0, at = 0; i < inputs; ++i) {
    if (linear[i]) continue;
    const ValueId v = g.inputs[at++];
    if (i < consts) {
      order.push_back(v);
      in.push_back(a.in[i]);
    } else {
      residuals.push_back(v);
      residual_slices.push_back(a.in[i]);
    }
  }
  std::vector<ValueId> ct_inputs(
      g.inputs.begin() + static_cast<ptrdiff_t>(order.size() + residuals.size()), g.inputs.end());
  p.consts = static_cast<int64_t>(order.size());
  size_t k = 0;
  for (size_t i = 0; i < consts; ++i) {
    if (!body.in_cts[i]) continue;
    order.push_back(accumulate(g, k++));
    in.push_back(rules::zeros_of(a.avals[i]));
  }
  size_t ct = 0;
  for (size_t i = 0; i < carry; ++i) {
    if (!cts[i]) continue;
    order.push_back(ct_inputs[ct++]);
    in.push_back(a.cts[i].defined() ? a.cts[i] : rules::zeros_of(a.out_avals[i]));
  }
  p.carry = static_cast<int64_t>(order.size()) - p.consts;
  order.insert(order.end(), residuals.begin(), residuals.end());
  in.insert(in.end(), residual_slices.begin(), residual_slices.end());
  for (size_t i = carry; i < outputs; ++i) {
    if (!cts[i]) continue;
    order.push_back(ct_inputs[ct++]);
    in.push_back(a.cts[i]);
  }
  g.inputs = std::move(order);
  p.reverse = !p.reverse;
  p.body = std::make_shared<const Graph>(std::move(g));
  const std::vector<Array> out = rules::scan(p, in);
  size_t next = 0;
  for (size_t i = 0; i < inputs; ++i) {
    const bool carries = i >= consts && i < first_x;
    if (!(carries ? cts[i - consts] : static_cast<bool>(body.in_cts[i]))) continue;
    if (a.linear(i)) a.out[i] = out[next];
    ++next;
  }
}

}  // namespace spruce::internal
