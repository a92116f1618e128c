// SPDX-License-Identifier: Apache-2.0
// Scans with several steps in one turn. Steps that do not fill a turn are done behind the loop.
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::passes {
namespace {

using internal::at;

// Adds equations to a graph.
struct To {
  Graph& g;
  const std::string& place;

  const Shape& shape(ValueId v) const { return g.avals[at(v)].shape; }
  ValueId emit(const Primitive& p, Params params, std::vector<ValueId> in) const {
    return spruce::emit(g, p, std::move(params), std::move(in), place);
  }
  ValueId reshape(ValueId v, const Shape& to) const {
    return shape(v) == to ? v : emit(reshape_p, Params::make(ReshapeParams{to}), {v});
  }
  /// v[begin:end] along the first axis.
  ValueId slice(ValueId v, int64_t begin, int64_t end) const {
    if (begin == 0 && end == shape(v)[0]) return v;
    Shape start = Shape::filled(shape(v).rank(), 0), limit = shape(v);
    start[0] = begin, limit[0] = end;
    const Shape stride = Shape::filled(start.rank(), 1);
    return emit(slice_p, Params::make(SliceParams{start, limit, stride}), {v});
  }
  ValueId join(const std::vector<ValueId>& parts) const {
    return parts.size() == 1 ? parts[0]
                             : emit(concatenate_p, Params::make(ConcatenateParams{0}), parts);
  }
};

Shape row(const Shape& s, int64_t rows) {
  Shape out = s;
  out.insert(0, rows);
  return out;
}

// What the carry becomes in `steps` steps, and the results of them, stacked.
std::vector<ValueId> turn(const To& to, const ScanParams& p, const std::vector<ValueId>& consts,
                          std::vector<ValueId> carry, const std::vector<ValueId>& xs,
                          int64_t steps) {
  const Graph& body = *p.body;
  const size_t results = body.outputs.size() - carry.size();
  std::vector<std::vector<ValueId>> parts(results,
                                          std::vector<ValueId>(static_cast<size_t>(steps)));
  for (int64_t n = 0; n < steps; ++n) {
    const int64_t step = p.reverse ? steps - 1 - n : n;
    std::vector<ValueId> in = consts;
    in.insert(in.end(), carry.begin(), carry.end());
    for (const ValueId x : xs) {
      const Shape one = body.avals[at(body.inputs[in.size()])].shape;
      in.push_back(to.reshape(to.slice(x, step, step + 1), one));
    }
    const std::vector<ValueId> out = splice(to.g, body, in);
    std::copy(out.begin(), out.begin() + static_cast<ptrdiff_t>(carry.size()), carry.begin());
    for (size_t k = 0; k < results; ++k) {
      const ValueId y = out[carry.size() + k];
      const Shape one = row(to.shape(y), 1);
      parts[k][static_cast<size_t>(step)] = to.reshape(y, one);
    }
  }
  for (const std::vector<ValueId>& y : parts) carry.push_back(to.join(y));
  return carry;
}

// Puts what does the same into `out`; the values that stand for the outputs.
std::vector<ValueId> unrolled(Graph& out, const Equation& e) {
  ScanParams p = e.params.get<ScanParams>();
  const To to{out, e.place};
  const auto first_carry = e.inputs.begin() + static_cast<ptrdiff_t>(p.consts),
             first_x = first_carry + static_cast<ptrdiff_t>(p.carry);
  const std::vector<ValueId> consts(e.inputs.begin(), first_carry), xs(first_x, e.inputs.end());
  std::vector<ValueId> carry(first_carry, first_x);
  const size_t carried = carry.size(), results = e.outputs.size() - carried;
  int64_t turns = p.length / p.unroll;
  if (turns < 2) turns = 0;
  const int64_t looped = turns * p.unroll, rest = p.length - looped;
  // The rest are the last steps: in a loop from the end, the first slices.
  const int64_t loop_begin = p.reverse ? rest : 0, rest_begin = p.reverse ? 0 : looped;
  std::vector<std::vector<ValueId>> parts(results);
  if (turns > 0) {
    Graph body;
    std::vector<ValueId> in[3];
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      const Aval& one = p.body->avals[at(p.body->inputs[i])];
      Aval type = one;
      if (i >= consts.size() + carried) type.shape = row(one.shape, p.unroll);
      const ValueId v = body.add_value(type);
      body.inputs.push_back(v);
      in[i < consts.size() ? 0 : i < consts.size() + carried ? 1 : 2].push_back(v);
    }
    body.outputs = turn({body, e.place}, p, in[0], in[1], in[2], p.unroll);
    Equation loop = e;
    for (size_t i = 0; i < xs.size(); ++i) {
      const ValueId x = to.slice(xs[i], loop_begin, loop_begin + looped);
      Shape shape = to.shape(x);
      shape[0] = p.unroll;
      loop.inputs[consts.size() + carried + i] = to.reshape(x, row(shape, turns));
    }
    for (size_t k = 0; k < e.outputs.size(); ++k) {
      Aval type = out.avals[at(e.outputs[k])];
      if (k >= carried) {
        type.shape[0] = p.unroll;
        type.shape = row(type.shape, turns);
      }
      loop.outputs[k] = out.add_value(type);
      if (k < carried) carry[k] = loop.outputs[k];
    }
    ScanParams q = p;
    q.length = turns;
    q.unroll = 1;
    q.body = std::make_shared<const Graph>(std::move(body));
    loop.params = Params::make(std::move(q));
    const std::vector<ValueId> made = loop.outputs;
    out.equations.push_back(std::move(loop));
    for (size_t k = 0; k < results; ++k) {
      Shape shape = out.avals[at(e.outputs[carried + k])].shape;
      shape[0] = looped;
      parts[k].push_back(to.reshape(made[carried + k], shape));
    }
  }
  if (rest > 0) {
    std::vector<ValueId> slices;
    for (const ValueId x : xs) slices.push_back(to.slice(x, rest_begin, rest_begin + rest));
    const std::vector<ValueId> last = turn(to, p, consts, carry, slices, rest);
    std::copy(last.begin(), last.begin() + static_cast<ptrdiff_t>(carried), carry.begin());
    for (size_t k = 0; k < results; ++k)
      parts[k].insert(p.reverse ? parts[k].begin() : parts[k].end(), last[carried + k]);
  }
  for (const std::vector<ValueId>& y : parts) carry.push_back(to.join(y));
  return carry;
}

}  // namespace

Graph unroll_scans(Graph graph) {
  if (!has_bodies(graph)) return graph;
  return rebuild(std::move(graph), [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    if (has_bodies(e)) e.params = map_graphs(e.params, unroll_scans);
    const auto* p = e.primitive == &scan_p ? &e.params.get<ScanParams>() : nullptr;
    if (p == nullptr || p->unroll < 2 || p->length < 1 || has_effect(e)) {
      out.equations.push_back(std::move(e));
      return;
    }
    const std::vector<ValueId> by = unrolled(out, e);
    for (size_t k = 0; k < by.size(); ++k) renamed[at(e.outputs[k])] = by[k];
  });
}

}  // namespace spruce::passes
