// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body_rules.h"

#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/batch.h"
#include "spruce/transforms/dual.h"
#include "spruce/transforms/linearizer.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/stage.h"
#include "spruce/transforms/tape.h"

namespace spruce::internal {
namespace {

Graph tidy(Graph g) { return passes::dead_code(passes::common_subexpressions(g)); }

std::vector<Array> inputs_of(StageInterpreter& stage, const std::vector<Aval>& types) {
  std::vector<Array> out;
  for (const Aval& a : types) out.push_back(stage.input(a));
  return out;
}

// The tangent of an output, where it is asked for an array even if it is zero.
Array tangent_or_zero(const Array& tangent, const Aval& type, bool asked) {
  return !tangent.defined() && asked && is_floating(type.dtype) ? rules::zeros_of(type) : tangent;
}

}  // namespace

std::vector<Aval> input_avals(const Graph& g) {
  std::vector<Aval> out;
  for (const ValueId v : g.inputs) out.push_back(g.avals[static_cast<size_t>(v)]);
  return out;
}

std::vector<Aval> output_avals(const Graph& g) {
  std::vector<Aval> out;
  for (const ValueId v : g.outputs) out.push_back(g.avals[static_cast<size_t>(v)]);
  return out;
}

JvpBody jvp_body(const Graph& body, const Mask& varies, const Mask& asked) {
  StageInterpreter stage("jvp");
  const std::vector<Aval> types = input_avals(body), out_types = output_avals(body);
  std::vector<Array> primals = inputs_of(stage, types);
  std::vector<Array> out_tangents;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    DualInterpreter dual("jvp");
    for (size_t i = 0; i < primals.size(); ++i) {
      if (varies[i]) primals[i] = dual.make(primals[i], stage.input(types[i]));
    }
    std::vector<Array> out;
    {
      const InterpreterScope inner(&dual);
      out = apply_graph(body, primals);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      stage.output(dual.primal(out[k]));
      out_tangents.push_back(tangent_or_zero(dual.tangent(out[k]), out_types[k], asked[k]));
    }
  }
  JvpBody result;
  for (const Array& t : out_tangents) {
    result.out_varies.push_back(t.defined());
    if (t.defined()) stage.output(t);
  }
  result.graph = tidy(stage.take());
  return result;
}

namespace {

// Evaluates the body of these `primals` under the current interpreter and puts into `linear` a
// tangent for each input that varies and the tangents of the outputs; returns what the outputs are.
std::vector<Array> linearize_into(const Graph& body, const Mask& varies, const Mask& asked,
                                  std::vector<Array> primals, StageInterpreter& linear,
                                  Mask& out_varies) {
  const std::vector<Aval> types = input_avals(body), out_types = output_avals(body);
  Tape tape;
  DualInterpreter dual("grad", &tape);
  std::vector<Array> in_tangents, out_tangents, out;
  for (size_t i = 0; i < primals.size(); ++i) {
    if (!varies[i]) continue;
    primals[i] = dual.make(primals[i], tape.input(types[i]));
    in_tangents.push_back(linear.input(types[i]));
  }
  {
    const InterpreterScope scope(&dual);
    out = apply_graph(body, primals);
  }
  for (Array& a : out) {
    out_tangents.push_back(dual.tangent(a));
    a = dual.primal(a);
  }
  const InterpreterScope scope(&linear);
  out_tangents = tape.apply(out_tangents, in_tangents);
  for (size_t k = 0; k < out.size(); ++k) {
    const Array t = tangent_or_zero(out_tangents[k], out_types[k], asked[k]);
    out_varies.push_back(t.defined());
    if (t.defined()) linear.output(t);
  }
  return out;
}

}  // namespace

LinearBody linearize_body(const Graph& body, const Mask& varies, const Mask& asked) {
  // What is staged in `linear` refers to values of `forward` as constants.
  StageInterpreter forward("grad"), linear("grad");
  const std::vector<Array> primals = inputs_of(forward, input_avals(body));
  LinearBody result;
  {
    const InterpreterScope scope(&forward);
    const LocReset reset;
    for (const Array& a : linearize_into(body, varies, asked, primals, linear, result.out_varies))
      forward.output(a);
  }
  result.linear = tidy(linear.take());
  // Those that are left are the residuals.
  Graph& g = result.linear;
  std::vector<ValueId> inputs;
  std::vector<Graph::Constant> constants;
  for (Graph::Constant& c : g.constants) {
    if (forward.owns(c.value)) {
      inputs.push_back(c.id);
      forward.output(c.value);
    } else {
      constants.push_back(std::move(c));
    }
  }
  result.residuals = inputs.size();
  inputs.insert(inputs.end(), g.inputs.begin(), g.inputs.end());
  g.inputs = std::move(inputs);
  g.constants = std::move(constants);
  result.forward = tidy(forward.take());
  return result;
}

LinearBody relinearize_body(const Graph& body, const Mask& varies, const Mask& asked) {
  const std::vector<Aval> types = input_avals(body);
  StageInterpreter stage("grad");
  const std::vector<Array> primals = inputs_of(stage, types);
  LinearBody result;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    (void)linearize_into(body, varies, asked, primals, stage, result.out_varies);
  }
  result.linear = tidy(stage.take());
  // Inputs of the body that nothing there needs are no residuals.
  Graph& g = result.linear;
  std::vector<uint8_t> used(g.avals.size(), 0);
  for (const Equation& e : g.equations) {
    for (const ValueId v : e.inputs) used[static_cast<size_t>(v)] = 1;
  }
  std::vector<ValueId> inputs;
  result.forward = body;
  for (size_t i = 0; i < types.size(); ++i) {
    if (used[static_cast<size_t>(g.inputs[i])] == 0) continue;
    inputs.push_back(g.inputs[i]);
    result.forward.outputs.push_back(body.inputs[i]);
  }
  result.residuals = inputs.size();
  inputs.insert(inputs.end(), g.inputs.begin() + static_cast<ptrdiff_t>(types.size()),
                g.inputs.end());
  g.inputs = std::move(inputs);
  return result;
}

TransposedBody transpose_body(const Graph& body, const Mask& linear, const Mask& cts,
                              const Mask& asked) {
  const std::vector<Aval> types = input_avals(body), out_types = output_avals(body);
  StageInterpreter stage("grad");
  TransposedBody result;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    Tape tape;
    std::vector<Array> in(types.size());
    for (size_t i = 0; i < types.size(); ++i)
      in[i] = linear[i] ? tape.input(types[i]) : stage.input(types[i]);
    std::vector<Array> out, out_cts(out_types.size());
    {
      const InterpreterScope inner(&tape);
      out = apply_graph(body, in);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      if (cts[k]) out_cts[k] = stage.input(out_types[k]);
    }
    const std::vector<Array> in_cts = tape.transpose(out, out_cts);
    result.in_cts.assign(types.size(), false);
    for (size_t i = 0, at = 0; i < types.size(); ++i) {
      if (!linear[i]) continue;
      const Array ct = tangent_or_zero(in_cts[at++], types[i], asked[i]);
      result.in_cts[i] = ct.defined();
      if (ct.defined()) stage.output(ct);
    }
  }
  result.graph = tidy(stage.take());
  return result;
}

BatchedBody batch_body(const Graph& body, const BatchArgs& a, const Mask& batched,
                       const Mask& asked) {
  const std::vector<Aval> types = input_avals(body);
  StageInterpreter stage("vmap");
  BatchedBody result;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    BatchInterpreter batch(a.size, std::string(a.axis_name));
    std::vector<Array> in, out;
    for (size_t i = 0; i < types.size(); ++i) {
      Aval type = types[i];
      if (batched[i]) type.shape.insert(0, a.size);
      in.push_back(stage.input(type));
      if (batched[i]) in.back() = batch.make(in.back());
    }
    {
      const InterpreterScope inner(&batch);
      out = apply_graph(body, in);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      const bool mapped = batch.owns(out[k]);
      result.out_batched.push_back(mapped || asked[k]);
      const Array value = batch.unwrap(out[k]);
      stage.output(asked[k] ? rules::materialize_batch(value, mapped, a.size) : value);
    }
  }
  result.graph = tidy(stage.take());
  return result;
}

Mask depends(const Graph& body, const Mask& inputs) {
  std::vector<uint8_t> marked(body.avals.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    marked[static_cast<size_t>(body.inputs[i])] = inputs[i] ? 1 : 0;
  for (const Equation& e : body.equations) {
    uint8_t any = 0;
    for (const ValueId v : e.inputs) any |= marked[static_cast<size_t>(v)];
    for (const ValueId v : e.outputs) marked[static_cast<size_t>(v)] = any;
  }
  Mask out;
  for (const ValueId v : body.outputs) out.push_back(marked[static_cast<size_t>(v)] != 0);
  return out;
}

}  // namespace spruce::internal
