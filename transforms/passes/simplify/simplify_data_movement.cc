// SPDX-License-Identifier: Apache-2.0
// Rules of operations that move or repeat elements: what does nothing goes away, two in a row
// become one. All are exact.
#include <unordered_map>

#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rules.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

ValueId sliced(Rewriter& r, ValueId x, SliceParams p) {
  return r.emit(slice_p, Params::make(p), {x});
}

// The axes of `to` at which those of `from` stand, if the two differ in axes of size 1 alone. An
// axis of size 1 that `to` lacks stands at -1.
bool places(const Shape& from, const Shape& to, Axes& at) {
  at = {};
  int j = 0;
  for (const int64_t n : from) {
    if (n != 1) {
      while (j < to.rank() && to[j] == 1 && n != 1) ++j;
      if (j == to.rank() || to[j] != n) return false;
      at.push_back(j++);
    } else {
      at.push_back(j < to.rank() && to[j] == 1 ? j++ : -1);
    }
  }
  for (; j < to.rank(); ++j) {
    if (to[j] != 1) return false;
  }
  return true;
}

ValueId on_reshape(Rewriter& r, const Equation& e) {
  const Shape& shape = e.params.get<ReshapeParams>().shape;
  const ValueId x = e.inputs[0];
  if (r.shape(x) == shape) return x;
  if (const Equation* s = r.source(x, reshape_p)) return reshaped(r, s->inputs[0], shape);
  if (const Equation* b = r.source(x, broadcast_in_dim_p)) {
    const ValueId y = b->inputs[0];
    if (r.aval(y).numel() == 1) return broadcast(r, reshaped(r, y, {}), shape, {});
  }
  return kNone;
}

ValueId on_transpose(Rewriter& r, const Equation& e) {
  const Axes& perm = e.params.get<TransposeParams>().perm;
  const ValueId x = e.inputs[0];
  const Shape& from = r.shape(x);
  // The axes that are not of size 1 keep their order: the elements stay where they are.
  int64_t last = -1;
  bool moves = false;
  Shape to;
  for (const int64_t i : perm) {
    to.push_back(from[static_cast<int>(i)]);
    if (from[static_cast<int>(i)] == 1) continue;
    moves = moves || i < last;
    last = i;
  }
  if (!moves) return reshaped(r, x, to);
  if (const Equation* t = r.source(x, transpose_p)) {
    const Axes& first = t->params.get<TransposeParams>().perm;
    Axes both;
    for (const int64_t i : perm) both.push_back(first[static_cast<int>(i)]);
    return transposed(r, t->inputs[0], both);
  }
  if (const Equation* b = r.source(x, broadcast_in_dim_p)) {
    const Axes& dims = b->params.get<BroadcastInDimParams>().broadcast_dimensions;
    Axes inner, at;  // of the transposed operand
    for (int k = 0; k < perm.rank(); ++k) {
      for (int i = 0; i < dims.rank(); ++i) {
        if (dims[i] == perm[k]) inner.push_back(i), at.push_back(k);
      }
    }
    const ValueId y = transposed(r, b->inputs[0], inner);
    return broadcast(r, y, to, at);
  }
  return kNone;
}

ValueId on_broadcast(Rewriter& r, const Equation& e) {
  const auto& p = e.params.get<BroadcastInDimParams>();
  const ValueId x = e.inputs[0];
  if (r.aval(x).numel() == p.shape.numel() && p.shape.numel() > 0) return reshaped(r, x, p.shape);
  const Equation* s = r.source(x);
  if (s == nullptr) return kNone;
  if (s->primitive == &broadcast_in_dim_p) {
    Axes dims;
    for (const int64_t i : s->params.get<BroadcastInDimParams>().broadcast_dimensions)
      dims.push_back(p.broadcast_dimensions[static_cast<int>(i)]);
    return broadcast(r, s->inputs[0], p.shape, dims);
  }
  if (s->primitive == &reshape_p) {
    const ValueId y = s->inputs[0];
    Axes at, dims;
    if (!places(r.shape(y), r.shape(x), at)) return kNone;
    for (int i = 0; i < at.rank(); ++i) {
      if (at[i] < 0) return kNone;
      dims.push_back(p.broadcast_dimensions[static_cast<int>(at[i])]);
    }
    return broadcast(r, y, p.shape, dims);
  }
  return kNone;
}

ValueId on_slice(Rewriter& r, const Equation& e) {
  const auto& p = e.params.get<SliceParams>();
  const ValueId x = e.inputs[0];
  const Shape& from = r.shape(x);
  const Shape to = output_avals(slice_p, std::vector<const Aval*>{&r.aval(x)}, e.params)[0].shape;
  if (to == from) {
    bool whole = true;
    for (int i = 0; i < from.rank(); ++i) whole = whole && (from[i] <= 1 || p.stride[i] == 1);
    if (whole) return x;
  }
  const Equation* s = r.source(x);
  if (s == nullptr || to.numel() == 0) return kNone;
  if (s->primitive == &slice_p) {
    SliceParams q = s->params.get<SliceParams>();
    for (int i = 0; i < from.rank(); ++i) {
      q.start[i] += p.start[i] * q.stride[i];
      q.stride[i] = to[i] == 1 ? 1 : q.stride[i] * p.stride[i];
      q.limit[i] = q.start[i] + (to[i] - 1) * q.stride[i] + 1;
    }
    return sliced(r, s->inputs[0], q);
  }
  if (s->primitive == &broadcast_in_dim_p) {
    const Axes& dims = s->params.get<BroadcastInDimParams>().broadcast_dimensions;
    const ValueId y = s->inputs[0];
    const int rank = r.shape(y).rank();
    SliceParams q{Shape::filled(rank, 0), r.shape(y), Shape::filled(rank, 1)};
    for (int i = 0; i < rank; ++i) {
      const auto d = static_cast<int>(dims[i]);
      if (r.shape(y)[i] == 1) continue;
      q.start[i] = p.start[d], q.limit[i] = p.limit[d], q.stride[i] = p.stride[d];
    }
    return broadcast(r, sliced(r, y, q), to, dims);
  }
  if (s->primitive == &concatenate_p) {
    const auto axis = static_cast<int>(s->params.get<ConcatenateParams>().axis);
    int64_t at = 0;
    for (const ValueId part : s->inputs) {
      const int64_t end = at + r.shape(part)[axis];
      if (p.start[axis] >= at && p.limit[axis] <= end) {
        SliceParams q = p;
        q.start[axis] -= at, q.limit[axis] -= at;
        return sliced(r, part, q);
      }
      at = end;
    }
  }
  return kNone;
}

ValueId on_pad(Rewriter& r, const Equation& e) {
  const auto& p = e.params.get<PadParams>();
  const Shape& from = r.shape(e.inputs[0]);
  SliceParams s{Shape::filled(from.rank(), 0), from, Shape::filled(from.rank(), 1)};
  for (int i = 0; i < from.rank(); ++i) {
    if (p.low[i] > 0 || p.high[i] > 0 || (p.interior[i] != 0 && from[i] > 1)) return kNone;
    s.start[i] = -p.low[i];
    s.limit[i] = from[i] + p.high[i];
    if (s.start[i] > s.limit[i]) return kNone;
  }
  return sliced(r, e.inputs[0], s);
}

// Parts that follow each other in one array, as the slice of it that they are; kNone if they do
// not.
ValueId one_slice(Rewriter& r, const Equation& e, int axis) {
  ValueId whole = kNone;
  SliceParams joined;
  for (const ValueId part : e.inputs) {
    const Equation* s = r.source(part, slice_p);
    if (s == nullptr) return kNone;
    const auto& p = s->params.get<SliceParams>();
    if (p.stride[axis] != 1) return kNone;
    if (whole == kNone) {
      whole = s->inputs[0];
      joined = p;
      continue;
    }
    SliceParams q = p;
    q.start[axis] = joined.start[axis], q.limit[axis] = joined.limit[axis];
    if (s->inputs[0] != whole || p.start[axis] != joined.limit[axis] ||
        !(q.start == joined.start && q.limit == joined.limit && q.stride == joined.stride))
      return kNone;
    joined.limit[axis] = p.limit[axis];
  }
  return sliced(r, whole, joined);
}

ValueId on_concatenate(Rewriter& r, const Equation& e) {
  constexpr size_t kMostParts = 256;  // flattening step by step must not become quadratic
  const auto axis = static_cast<int>(e.params.get<ConcatenateParams>().axis);
  if (e.inputs.size() == 1) return e.inputs[0];
  std::vector<ValueId> parts;
  bool changed = false;
  for (const ValueId v : e.inputs) {
    const Equation* c = r.source(v, concatenate_p);
    if (r.shape(v)[axis] == 0) {
      changed = true;
    } else if (c != nullptr && c->params == e.params && r.uses(v) <= 1 &&
               c->inputs.size() + e.inputs.size() <= kMostParts) {
      parts.insert(parts.end(), c->inputs.begin(), c->inputs.end());
      changed = true;
    } else {
      parts.push_back(v);
    }
  }
  if (changed && parts.empty()) return e.inputs[0];
  if (changed) return r.emit(concatenate_p, e.params, parts);
  return one_slice(r, e, axis);
}

ValueId on_rev(Rewriter& r, const Equation& e) {
  const Axes& axes = e.params.get<ReverseParams>().axes;
  const ValueId x = e.inputs[0];
  Axes moving;
  for (const int64_t i : axes) {
    if (r.shape(x)[static_cast<int>(i)] > 1) moving.push_back(i);
  }
  if (moving.empty()) return x;
  if (!(moving == axes)) return r.emit(rev_p, Params::make(ReverseParams{moving}), {x});
  const Equation* s = r.source(x, rev_p);
  return s != nullptr && s->params == e.params ? s->inputs[0] : kNone;
}

}  // namespace

ValueId data_movement_rule(Rewriter& r, const Equation& e) {
  using Rules = std::unordered_map<const Primitive*, Rule>;
  static const Rules& rules = *new Rules{{&reshape_p, on_reshape},
                                         {&transpose_p, on_transpose},
                                         {&broadcast_in_dim_p, on_broadcast},
                                         {&slice_p, on_slice},
                                         {&pad_p, on_pad},
                                         {&concatenate_p, on_concatenate},
                                         {&rev_p, on_rev}};
  const auto it = rules.find(e.primitive);
  return it == rules.end() ? kNone : it->second(r, e);
}

Graph simplify_data_movement(Graph graph) {
  return rewrite(std::move(graph), data_movement_rule, simplify_data_movement);
}

}  // namespace spruce::passes
