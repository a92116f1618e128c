// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/body_rules.h"

#include <map>
#include <tuple>
#include <utility>

#include "spruce/core/default_device.h"
#include "spruce/core/graph/custom_call.h"
#include "spruce/core/graph/find.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/derive/dual.h"
#include "spruce/transforms/derive/linearizer.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/stage/stage.h"
#include "spruce/transforms/vmap/batch.h"

namespace spruce::internal {
namespace {

Graph tidy(Graph g) {
  return passes::outermost_dead_code(passes::outermost_common_subexpressions(g));
}

std::vector<Array> inputs_of(StageInterpreter& stage, const std::vector<Aval>& types) {
  std::vector<Array> out;
  for (const Aval& a : types) out.push_back(stage.input(a));
  return out;
}

// Gives the graph zeros as the tangents or cotangents that are asked for and that it does not have.
// Behind the first `values` outputs it has one for each in `has`.
void add_asked(Graph& g, size_t values, Mask& has, const Mask& asked,
               const std::vector<Aval>& types) {
  const std::vector<ValueId> old = std::move(g.outputs);
  auto next = old.begin() + static_cast<ptrdiff_t>(values);
  g.outputs.assign(old.begin(), next);
  for (size_t k = 0; k < has.size(); ++k) {
    if (has[k]) {
      g.outputs.push_back(*next++);
    } else if (asked[k] && is_floating(types[k].dtype)) {
      g.outputs.push_back(add_filled(g, types[k], 0));
      has[k] = true;
    }
  }
}

// What has been made of bodies since the outermost call began.
struct Made {
  // The body, two masks, and the mapped axis with its size.
  using Key = std::tuple<const Graph*, Mask, Mask, int64_t, std::string>;
  template <class Result>
  using Results = std::map<Key, Result>;

  Results<JvpBody> jvp;
  Results<LinearBody> linear, relinear;
  Results<TransposedBody> transposed;
  Results<BatchedBody> batched;
  std::vector<GraphPtr> bodies;  // kept alive, so that no other gets their address
};
// These of a thread need no destructors: it may differentiate as its other objects are destroyed.
thread_local constinit Made* made = nullptr;
thread_local constinit int making = 0;  // calls within each other
thread_local constinit int64_t bodies = 0;

// Within a call of one of the functions of this file.
class Making {
 public:
  Making() {
    if (making == 0) made = new Made;
    ++making;
  }
  ~Making() {
    if (--making == 0) delete std::exchange(made, nullptr);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
};

// make() for that key, kept in `results`.
template <class Result, class Make>
Result kept(Made::Results<Result>& results, const GraphPtr& body, const Mask& a, const Mask& b,
            int64_t size, std::string_view axis, const Make& make) {
  Made::Key key(body.get(), a, b, size, axis);
  if (const auto it = results.find(key); it != results.end()) return it->second;
  ++bodies;
  made->bodies.push_back(body);
  Result result = make();
  results.emplace(std::move(key), result);
  return result;
}

}  // namespace

int64_t bodies_made() { return bodies; }

ValueId add_filled(Graph& g, const Aval& type, double value) {
  const ValueId scalar = g.add_value({type.dtype, false, {}});
  const InterpreterScope scope(nullptr);
  g.constants.push_back({scalar, rules::scalar_of(type.dtype, value)});
  if (type.shape.rank() == 0 && type.device == 0) return scalar;
  const ValueId filled = g.add_value({type.dtype, false, type.shape, type.device});
  g.equations.push_back({&broadcast_in_dim_p,
                         Params::make(BroadcastInDimParams{type.shape, {}}),
                         {scalar},
                         {filled},
                         {}});
  return filled;
}

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

namespace {

JvpBody make_jvp(const Graph& body, const Mask& varies) {
  StageInterpreter stage("jvp");
  const std::vector<Aval> types = input_avals(body);
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
    for (const Array& a : out) {
      stage.output(dual.primal(a));
      out_tangents.push_back(dual.tangent(a));
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

// Evaluates the body of these `primals` under the current interpreter and puts into `linear` a
// tangent for each input that varies and the tangents of the outputs; returns what the outputs are.
std::vector<Array> linearize_into(const Graph& body, const Mask& varies, std::vector<Array> primals,
                                  StageInterpreter& linear, Mask& out_varies) {
  const std::vector<Aval> types = input_avals(body);
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
  for (const Array& t : tape.apply(out_tangents, in_tangents)) {
    out_varies.push_back(t.defined());
    if (t.defined()) linear.output(t);
  }
  return out;
}

LinearBody make_linear(const Graph& body, const Mask& varies) {
  // What is staged in `linear` refers to values of `forward` as constants.
  StageInterpreter forward("grad"), linear("grad");
  const std::vector<Array> primals = inputs_of(forward, input_avals(body));
  LinearBody result;
  {
    const InterpreterScope scope(&forward);
    const LocReset reset;
    for (const Array& a : linearize_into(body, varies, primals, linear, result.out_varies))
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

}  // namespace

Graph primal_body(const Graph& body, const Mask& varies) {
  const auto has_rule = [](const Equation& e) { return e.primitive == &custom_call_p; };
  if (find_equation(body, has_rule) == nullptr) return body;
  Graph g = make_linear(body, varies).forward;
  g.outputs.resize(body.outputs.size());
  return passes::outermost_dead_code(std::move(g));
}

namespace {

LinearBody make_relinear(const Graph& body, const Mask& varies) {
  const std::vector<Aval> types = input_avals(body);
  StageInterpreter stage("grad");
  const std::vector<Array> primals = inputs_of(stage, types);
  LinearBody result;
  {
    const InterpreterScope scope(&stage);
    const LocReset reset;
    (void)linearize_into(body, varies, primals, stage, result.out_varies);
  }
  result.linear = tidy(passes::without_effects(stage.take()));
  // Inputs of the body that nothing there needs are no residuals.
  Graph& g = result.linear;
  std::vector<uint8_t> used(g.avals.size(), 0);
  for (const Equation& e : g.equations) {
    for (const ValueId v : e.inputs) used[static_cast<size_t>(v)] = 1;
  }
  std::vector<ValueId> inputs;
  result.forward = primal_body(body, varies);
  for (size_t i = 0; i < types.size(); ++i) {
    if (used[static_cast<size_t>(g.inputs[i])] == 0) continue;
    inputs.push_back(g.inputs[i]);
    result.forward.outputs.push_back(result.forward.inputs[i]);
  }
  result.residuals = inputs.size();
  inputs.insert(inputs.end(), g.inputs.begin() + static_cast<ptrdiff_t>(types.size()),
                g.inputs.end());
  g.inputs = std::move(inputs);
  return result;
}

TransposedBody make_transposed(const Graph& body, const Mask& linear, const Mask& cts) {
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
      const Array& ct = in_cts[at++];
      result.in_cts[i] = ct.defined();
      if (ct.defined()) stage.output(ct);
    }
  }
  result.graph = tidy(stage.take());
  return result;
}

BatchedBody make_batched(const Graph& body, const BatchArgs& a, const Mask& batched) {
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
    for (const Array& y : out) {
      result.out_batched.push_back(batch.owns(y));
      stage.output(batch.unwrap(y));
    }
  }
  result.graph = tidy(stage.take());
  return result;
}

}  // namespace

JvpBody jvp_body(const GraphPtr& body, const Mask& varies, const Mask& asked) {
  const Making making;
  JvpBody b = kept(made->jvp, body, varies, {}, 0, "", [&] { return make_jvp(*body, varies); });
  add_asked(b.graph, body->outputs.size(), b.out_varies, asked, output_avals(*body));
  return b;
}

LinearBody linearize_body(const GraphPtr& body, const Mask& varies, const Mask& asked) {
  const Making making;
  LinearBody b =
      kept(made->linear, body, varies, {}, 0, "", [&] { return make_linear(*body, varies); });
  add_asked(b.linear, 0, b.out_varies, asked, output_avals(*body));
  return b;
}

LinearBody relinearize_body(const GraphPtr& body, const Mask& varies, const Mask& asked) {
  const Making making;
  LinearBody b =
      kept(made->relinear, body, varies, {}, 0, "", [&] { return make_relinear(*body, varies); });
  add_asked(b.linear, 0, b.out_varies, asked, output_avals(*body));
  return b;
}

TransposedBody transpose_body(const GraphPtr& body, const Mask& linear, const Mask& cts,
                              const Mask& asked) {
  const Making making;
  TransposedBody b = kept(made->transposed, body, linear, cts, 0, "",
                          [&] { return make_transposed(*body, linear, cts); });
  Mask wanted = asked;
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = asked[i] && linear[i];
  add_asked(b.graph, 0, b.in_cts, wanted, input_avals(*body));
  return b;
}

BatchedBody batch_body(const GraphPtr& body, const BatchArgs& a, const Mask& batched,
                       const Mask& asked) {
  const Making making;
  BatchedBody b = kept(made->batched, body, batched, {}, a.size, a.axis_name,
                       [&] { return make_batched(*body, a, batched); });
  for (size_t k = 0; k < asked.size(); ++k) {
    if (!asked[k] || b.out_batched[k]) continue;
    b.out_batched[k] = true;
    ValueId& out = b.graph.outputs[k];
    Aval type = b.graph.avals[static_cast<size_t>(out)];
    Axes axes;
    for (int i = 0; i < type.shape.rank(); ++i) axes.push_back(i + 1);
    if (!is_placed(type)) type.device = device_among(b.graph.avals);
    type.shape.insert(0, a.size);
    const ValueId wide = b.graph.add_value(type);
    b.graph.equations.push_back({&broadcast_in_dim_p,
                                 Params::make(BroadcastInDimParams{type.shape, axes}),
                                 {out},
                                 {wide},
                                 {}});
    out = wide;
  }
  return b;
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
