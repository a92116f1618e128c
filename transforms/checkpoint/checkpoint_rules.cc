// SPDX-License-Identifier: Apache-2.0
// Reverse mode through checkpoint. The derivative of a body is again a call of one: of values that
// are kept (inputs, and what the options name) and of tangents, in which it is linear. It holds the
// operations that lead from the kept values to those that the derivative needs; its transpose runs
// them in the backward pass.
#include "spruce/transforms/rules/checkpoint_rules.h"

#include <algorithm>

#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/derive/dual.h"
#include "spruce/transforms/derive/linearizer.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/stage/stage.h"

namespace spruce {

extern const Primitive conv_general_p, dot_general_p;

namespace internal {
namespace {

std::vector<Array> call(CheckpointParams params, Graph body, std::span<const Array> in) {
  params.body = std::make_shared<const Graph>(std::move(body));
  return bind_all(checkpoint_p, in, Params::make(std::move(params)));
}

bool is_saved(const CheckpointParams& p, const Equation& e) {
  if (e.primitive == &dot_general_p || e.primitive == &conv_general_p) return p.save_matmuls;
  if (e.primitive != &checkpoint_name_p) return false;
  const std::string& name = e.params.get<CheckpointNameParams>().name;
  return ("," + p.save_names + ",").find("," + name + ",") != std::string::npos;
}

std::vector<ValueId> saved_values(const CheckpointParams& p) {
  std::vector<ValueId> out;
  for (const Equation& e : p.body->equations) {
    if (is_saved(p, e)) out.insert(out.end(), e.outputs.begin(), e.outputs.end());
  }
  return out;
}

// The tangents of the outputs that have one, from the inputs of the body, the saved values and a
// tangent for each input in `varies`.
struct TangentBody {
  Graph graph;
  Mask out_varies;
};

TangentBody tangent_body(const Graph& body, const std::vector<ValueId>& saved, const Mask& varies) {
  StageInterpreter stage("grad");
  TangentBody result;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    Tape tape;
    DualInterpreter dual("grad", &tape);
    std::vector<Array> env(body.avals.size()), kept(body.avals.size()), tangents, out_tangents;
    const auto input = [&](ValueId v) { return stage.input(body.avals[static_cast<size_t>(v)]); };
    for (const ValueId v : body.inputs) env[static_cast<size_t>(v)] = input(v);
    for (const ValueId v : saved) kept[static_cast<size_t>(v)] = input(v);
    for (size_t i = 0; i < varies.size(); ++i) {
      if (!varies[i]) continue;
      Array& x = env[static_cast<size_t>(body.inputs[i])];
      tangents.push_back(input(body.inputs[i]));
      x = dual.make(x, tape.input(x.aval()));
    }
    for (const Graph::Constant& c : body.constants) env[static_cast<size_t>(c.id)] = c.value;
    {
      const InterpreterScope inner(&dual);
      for (const Equation& e : body.equations) {
        std::vector<Array> in;
        for (const ValueId v : e.inputs) in.push_back(env[static_cast<size_t>(v)]);
        const std::vector<Array> out = bind_all(*e.primitive, in, e.params);
        for (size_t k = 0; k < out.size(); ++k) {
          const auto v = static_cast<size_t>(e.outputs[k]);
          env[v] = kept[v].defined() ? dual.make(kept[v], dual.tangent(out[k])) : out[k];
        }
      }
    }
    for (const ValueId v : body.outputs)
      out_tangents.push_back(dual.tangent(env[static_cast<size_t>(v)]));
    for (const Array& t : tape.apply(out_tangents, tangents)) {
      result.out_varies.push_back(t.defined());
      if (t.defined()) stage.output(t);
    }
  }
  result.graph = passes::outermost_dead_code(
      passes::outermost_common_subexpressions(passes::without_effects(stage.take())));
  return result;
}

// Leaves out the inputs that nothing needs, and what stands in their places in `in`.
void drop_unused(Graph& g, std::vector<Array>& in) {
  std::vector<bool> used(g.avals.size(), false);
  for (const Equation& e : g.equations) {
    for (const ValueId v : e.inputs) used[static_cast<size_t>(v)] = true;
  }
  for (const ValueId v : g.outputs) used[static_cast<size_t>(v)] = true;
  size_t n = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!used[static_cast<size_t>(g.inputs[i])]) continue;
    g.inputs[n] = g.inputs[i];
    in[n++] = in[i];
  }
  g.inputs.resize(n);
  in.resize(n);
  g = passes::outermost_dead_code(std::move(g));
}

void append_tangents(std::vector<Array>& in, const JvpArgs& a) {
  for (const Array& t : a.tangents) {
    if (t.defined()) in.push_back(t);
  }
}

}  // namespace

void jvp_of_checkpoint(const JvpArgs& a) {
  const auto& p = a.params.get<CheckpointParams>();
  Mask varies;
  for (const Array& t : a.tangents) varies.push_back(t.defined());
  std::vector<Array> in(a.in.begin(), a.in.end());
  if (!in_reverse_mode(a.tangents)) {
    const JvpBody body = jvp_body(p.body, varies, Mask(a.out.size(), false));
    append_tangents(in, a);
    const std::vector<Array> out = call(p, body.graph, in);
    for (size_t k = 0, next = a.out.size(); k < a.out.size(); ++k) {
      a.out[k] = out[k];
      if (body.out_varies[k]) a.out_tangents[k] = out[next++];
    }
    return;
  }
  const std::vector<ValueId> saved = saved_values(p);
  Graph forward = *p.body;
  forward.outputs.insert(forward.outputs.end(), saved.begin(), saved.end());
  const std::vector<Array> out = call(p, primal_body(forward, varies), in);
  std::copy_n(out.begin(), a.out.size(), a.out.begin());
  TangentBody body = tangent_body(*p.body, saved, varies);
  in.insert(in.end(), out.begin() + static_cast<ptrdiff_t>(a.out.size()), out.end());
  append_tangents(in, a);
  drop_unused(body.graph, in);
  if (body.graph.outputs.empty()) return;
  CheckpointParams linear = p;
  linear.held = 0;
  const std::vector<Array> tangents = call(std::move(linear), std::move(body.graph), in);
  for (size_t k = 0, next = 0; k < a.out.size(); ++k) {
    if (body.out_varies[k]) a.out_tangents[k] = tangents[next++];
  }
}

void transpose_of_checkpoint(const TransposeArgs& a) {
  CheckpointParams p = a.params.get<CheckpointParams>();
  Mask linear, cts;
  std::vector<Array> in;
  for (size_t i = 0; i < a.in.size(); ++i) {
    linear.push_back(a.linear(i));
    if (!a.linear(i)) in.push_back(a.in[i]);
  }
  p.held = static_cast<int64_t>(in.size());
  for (const Array& ct : a.cts) {
    cts.push_back(ct.defined());
    if (ct.defined()) in.push_back(ct);
  }
  TransposedBody body = transpose_body(p.body, linear, cts, Mask(linear.size(), false));
  const std::vector<Array> out = call(p, std::move(body.graph), in);
  for (size_t i = 0, next = 0; i < linear.size(); ++i) {
    if (body.in_cts[i]) a.out[i] = out[next++];
  }
}

void batch_of_checkpoint(const BatchArgs& a) {
  const auto& p = a.params.get<CheckpointParams>();
  const Mask batched(a.batched.begin(), a.batched.end());
  BatchedBody body = batch_body(p.body, a, batched, Mask(a.out.size(), false));
  const std::vector<Array> out = call(p, std::move(body.graph), a.in);
  for (size_t k = 0; k < out.size(); ++k) {
    a.out[k] = out[k];
    a.out_batched[k] = body.out_batched[k];
  }
}

}  // namespace internal
}  // namespace spruce
