// SPDX-License-Identifier: Apache-2.0
// Derivatives of scan. The carries that have a tangent are those of the smallest set that the body
// maps into itself.
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/branches/cond_rules.h"
#include "spruce/transforms/control/loops/scan_rules.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::internal {
namespace {

// The parts of a scan's inputs or outputs, and their places.
struct ScanPlaces {
  size_t consts, carry, inputs, outputs;

  explicit ScanPlaces(const ScanParams& p)
      : consts(static_cast<size_t>(p.consts)),
        carry(static_cast<size_t>(p.carry)),
        inputs(p.body->inputs.size()),
        outputs(p.body->outputs.size()) {}
  size_t first_x() const { return consts + carry; }
};

// Repeats `derive(varies, asked)` until no further carry gets a tangent.
template <class Derive>
auto settle(const ScanPlaces& at, Mask& varies, const Derive& derive) {
  for (;;) {
    Mask asked(at.outputs, false);
    for (size_t i = 0; i < at.carry; ++i) asked[i] = varies[at.consts + i];
    auto result = derive(varies, asked);
    bool again = false;
    for (size_t i = 0; i < at.carry; ++i) {
      if (!result.out_varies[i] || varies[at.consts + i]) continue;
      varies[at.consts + i] = again = true;
    }
    if (!again) return result;
  }
}

Array tangent_of(const JvpArgs& a, size_t i) {
  return a.tangents[i].defined() ? a.tangents[i] : rules::zeros_of(a.in[i].aval());
}

void forward_mode(const JvpArgs& a, ScanParams p, Mask varies) {
  const ScanPlaces at(p);
  JvpBody body = settle(
      at, varies, [&](const Mask& v, const Mask& asked) { return jvp_body(p.body, v, asked); });
  std::vector<size_t> tangent(at.inputs), order;
  size_t next = at.inputs;
  for (size_t i = 0; i < at.inputs; ++i) {
    if (varies[i]) tangent[i] = next++;
  }
  std::vector<Array> in;
  const auto take = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      order.push_back(i);
      in.push_back(a.in[i]);
    }
    for (size_t i = begin; i < end; ++i) {
      if (!varies[i]) continue;
      order.push_back(tangent[i]);
      in.push_back(tangent_of(a, i));
    }
    return static_cast<int64_t>(order.size());
  };
  p.consts = take(0, at.consts);
  p.carry = take(at.consts, at.first_x()) - p.consts;
  take(at.first_x(), at.inputs);
  body.graph.inputs = reordered(body.graph.inputs, order);

  // Where each output and its tangent are found, after the carries have been put in front.
  order.clear();
  std::vector<size_t> value_at(at.outputs), tangent_at(at.outputs), out_tangent(at.outputs);
  next = at.outputs;
  for (size_t k = 0; k < at.outputs; ++k) {
    if (body.out_varies[k]) out_tangent[k] = next++;
  }
  const auto place = [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      value_at[k] = order.size();
      order.push_back(k);
    }
    for (size_t k = begin; k < end; ++k) {
      if (!body.out_varies[k]) continue;
      tangent_at[k] = order.size();
      order.push_back(out_tangent[k]);
    }
  };
  place(0, at.carry);
  place(at.carry, at.outputs);
  body.graph.outputs = reordered(body.graph.outputs, order);

  p.body = std::make_shared<const Graph>(std::move(body.graph));
  const std::vector<Array> out = rules::scan(p, in);
  for (size_t k = 0; k < at.outputs; ++k) {
    a.out[k] = out[value_at[k]];
    if (body.out_varies[k]) a.out_tangents[k] = out[tangent_at[k]];
  }
}

// What the linear scan needs of the other: each residual is a constant of both (`outside`), an
// array whose slices both take, or one that the forward scan stacks.
struct Residuals {
  std::vector<size_t> constant, sliced;  // their numbers
  std::vector<Array> constants, slices;
};

Graph with_outputs(Graph g, std::vector<ValueId> outputs) {
  g.outputs = std::move(outputs);
  return g;
}

// Runs the forward scan, and finds the residuals of `body`.
Residuals run_forward(const JvpArgs& a, ScanParams p, LinearBody& body) {
  const ScanPlaces at(p);
  Mask moving(at.inputs, true);
  std::fill(moving.begin(), moving.begin() + static_cast<ptrdiff_t>(at.consts), false);
  pick_invariants(body, at.outputs, moving);
  Graph& g = body.forward;
  const std::vector<ValueId> ids(g.outputs.begin() + static_cast<ptrdiff_t>(at.outputs),
                                 g.outputs.end());
  const Mask varies = depends(with_outputs(g, ids), moving);

  Residuals r;
  std::vector<ValueId> invariant,
      outputs(g.outputs.begin(), g.outputs.begin() + static_cast<ptrdiff_t>(at.outputs));
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> stacked;  // for each of r.sliced, which output of the scan it is
  for (size_t n = 0; n < ids.size(); ++n) {
    if (!varies[n]) {
      r.constant.push_back(n);
      invariant.push_back(ids[n]);
      continue;
    }
    r.sliced.push_back(n);
    const auto input =
        std::find(g.inputs.begin() + static_cast<ptrdiff_t>(at.first_x()), g.inputs.end(), ids[n]);
    if (input != g.inputs.end()) {
      r.slices.push_back(a.in[static_cast<size_t>(input - g.inputs.begin())]);
      stacked.push_back(kNone);
      continue;
    }
    const auto output =
        std::find(outputs.begin() + static_cast<ptrdiff_t>(at.carry), outputs.end(), ids[n]);
    stacked.push_back(static_cast<size_t>(output - outputs.begin()));
    if (output == outputs.end()) outputs.push_back(ids[n]);
    r.slices.push_back(Array());
  }
  if (!invariant.empty()) {
    Graph outside = with_outputs(g, std::move(invariant));
    outside.inputs.resize(at.consts);
    r.constants = apply_graph(passes::outermost_dead_code(passes::without_effects(outside)),
                              a.in.first(at.consts));
  }
  p.body = std::make_shared<const Graph>(
      passes::outermost_dead_code(with_outputs(g, std::move(outputs))));
  const std::vector<Array> out = rules::scan(p, a.in);
  for (size_t k = 0; k < at.outputs; ++k) a.out[k] = out[k];
  for (size_t i = 0; i < stacked.size(); ++i) {
    if (stacked[i] != kNone) r.slices[i] = out[stacked[i]];
  }
  return r;
}

void reverse_mode(const JvpArgs& a, ScanParams p, Mask varies) {
  const ScanPlaces at(p);
  LinearBody body = settle(at, varies, [&](const Mask& v, const Mask& asked) {
    return p.checkpoint ? relinearize_body(p.body, v, asked) : linearize_body(p.body, v, asked);
  });
  const Residuals r = run_forward(a, p, body);

  std::vector<Array> in = r.constants;
  std::vector<size_t> order = r.constant;
  size_t tangent = body.residuals, i = 0;
  const auto take = [&](size_t end) {
    for (; i < end; ++i) {
      if (!varies[i]) continue;
      order.push_back(tangent++);
      in.push_back(tangent_of(a, i));
    }
    return static_cast<int64_t>(order.size());
  };
  p.consts = take(at.consts);
  p.carry = take(at.first_x()) - p.consts;
  order.insert(order.end(), r.sliced.begin(), r.sliced.end());
  in.insert(in.end(), r.slices.begin(), r.slices.end());
  take(at.inputs);
  body.linear.inputs = reordered(body.linear.inputs, order);
  p.body = std::make_shared<const Graph>(std::move(body.linear));
  const std::vector<Array> out = rules::scan(p, in);
  for (size_t k = 0, next = 0; k < at.outputs; ++k) {
    if (body.out_varies[k]) a.out_tangents[k] = out[next++];
  }
}

}  // namespace

void jvp_of_scan(const JvpArgs& a) {
  const auto& p = a.params.get<ScanParams>();
  Mask varies;
  for (const Array& t : a.tangents) varies.push_back(t.defined());
  if (in_reverse_mode(a.tangents))
    reverse_mode(a, p, std::move(varies));
  else
    forward_mode(a, p, std::move(varies));
}

}  // namespace spruce::internal
