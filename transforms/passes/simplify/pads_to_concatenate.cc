// SPDX-License-Identifier: Apache-2.0
// A sum of pieces that are padded with zeros to stand side by side is their concatenation: what the
// derivative of several slices of one array is. A zero may get the other sign.
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

// Zeros along one axis outside of [begin, end), which holds `x`.
struct Piece {
  ValueId x = kNone;
  int axis = -1;
  int64_t begin = 0, end = 0;
};

Piece piece(const Rewriter& r, ValueId v) {
  const Equation* e = r.source(v, pad_p);
  if (e == nullptr || number(r, e->inputs[1]) != 0.0) return {};
  const auto& p = e->params.get<PadParams>();
  Piece out;
  for (int i = 0; i < p.low.rank(); ++i) {
    if (p.interior[i] != 0 || p.low[i] < 0 || p.high[i] < 0) return {};
    if (p.low[i] == 0 && p.high[i] == 0) continue;
    if (out.axis >= 0) return {};
    out = {e->inputs[0], i, p.low[i], r.shape(v)[i] - p.high[i]};
  }
  return out;
}

ValueId joined(Rewriter& r, const Equation& e) {
  if (e.primitive == &add_p) {
    Piece a = piece(r, e.inputs[0]), b = piece(r, e.inputs[1]);
    const Shape& shape = r.shape(e.inputs[0]);
    if (a.axis < 0 || a.axis != b.axis || !(shape == r.shape(e.inputs[1]))) return kNone;
    if (b.end == a.begin) std::swap(a, b);
    if (a.end != b.begin) return kNone;
    const ValueId both = r.emit(concatenate_p, Params::make(ConcatenateParams{a.axis}), {a.x, b.x});
    if (r.shape(both) == shape) return both;
    const Shape none = Shape::filled(shape.rank(), 0);
    PadParams p{none, none, none};
    p.low[a.axis] = a.begin;
    p.high[a.axis] = shape[a.axis] - b.end;
    return r.emit(pad_p, Params::make(p), {both, r.add_scalar(r.dtype(both), 0)});
  }
  if (e.primitive == &concatenate_p) {
    constexpr size_t kMostParts = 256;  // flattening step by step must not become quadratic
    std::vector<ValueId> parts;
    for (const ValueId v : e.inputs) {
      const Equation* c = r.source(v, concatenate_p);
      if (c != nullptr && c->params == e.params && c->inputs.size() + e.inputs.size() <= kMostParts)
        parts.insert(parts.end(), c->inputs.begin(), c->inputs.end());
      else
        parts.push_back(v);
    }
    if (parts.size() != e.inputs.size()) return r.emit(concatenate_p, e.params, parts);
  }
  return kNone;
}

}  // namespace

Graph pads_to_concatenate(Graph graph) {
  return rewrite(std::move(graph), joined, pads_to_concatenate);
}

}  // namespace spruce::passes
