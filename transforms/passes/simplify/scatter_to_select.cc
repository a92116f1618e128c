// SPDX-License-Identifier: Apache-2.0
// A scatter_add into zeros that writes one place along one axis, such as the derivative of picking
// the log-likelihood of a label, as a choice between the update and zero: elementwise, so that it
// is fused with what uses it. Picking itself, from few, as the sum of what is chosen. A zero may
// get the other sign.
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

// Where such a scatter writes.
struct OneHot {
  int axis = -1;   // of the operand
  Axes positions;  // for each operand axis, the axis of the indices that goes with it, or -1
  Axes updates;    // for each operand axis, the axis of the updates, or -1
};

// How a gather or scatter addresses the operand; `updates` has the shape of the windows. axis < 0
// for other ways.
OneHot places(const Rewriter& r, const Equation& e, const Shape& updates) {
  const auto& p = e.params.get<GatherParams>();
  const Shape &operand = r.shape(e.inputs[0]), &indices = r.shape(e.inputs[1]);
  const Dtype dtype = r.dtype(e.inputs[1]);
  if (is_bool(r.dtype(e.inputs[0])) || operand.numel() == 0 || indices.numel() == 0 ||
      size_of(dtype) < 4 || p.start_index_map.rank() != 1 || p.wraps ||
      !rules::one_window(p, indices))
    return {};
  OneHot h;
  h.axis = static_cast<int>(p.start_index_map[0]);
  if (!p.collapsed_dims.contains(h.axis) || p.collapsed_dims.rank() != 1) return {};
  Axes free;  // axes of the updates that are positions, in order
  for (int i = 0; i < updates.rank(); ++i) {
    if (!p.offset_dims.contains(i)) free.push_back(i);
  }
  int next_offset = 0;
  for (int d = 0; d < operand.rank(); ++d) {
    int64_t position = -1, update = -1;
    for (int k = 0; k < p.operand_batch_dims.rank(); ++k) {
      if (p.operand_batch_dims[k] != d) continue;
      position = p.indices_batch_dims[k];
      update = free[static_cast<int>(position)];
    }
    if (position < 0 && d != h.axis) {
      if (p.window[d] != operand[d]) return {};
      update = p.offset_dims[next_offset++];
    }
    h.positions.push_back(position);
    h.updates.push_back(update);
  }
  return h;
}

// axis < 0 for any equation but a scatter_add into zeros.
OneHot one_hot(const Rewriter& r, const Equation& e) {
  if (e.primitive != &scatter_add_p || number(r, e.inputs[0]) != 0.0) return {};
  return places(r, e, r.shape(e.inputs[2]));
}

// x with its axes in the order `axes` and size 1 where these are -1; its other axes have size 1.
ValueId arranged(Rewriter& r, ValueId x, const Axes& axes) {
  Axes perm;
  Shape to;
  for (const int64_t i : axes) {
    if (i >= 0) perm.push_back(i);
    to.push_back(i < 0 ? 1 : r.shape(x)[static_cast<int>(i)]);
  }
  for (int i = 0; i < r.shape(x).rank(); ++i) {
    if (!perm.contains(i)) perm.push_back(i);
  }
  return reshaped(r, transposed(r, x, perm), to);
}

// bool: where along the axis of the operand the indices point.
ValueId pointed(Rewriter& r, const Equation& e, const OneHot& h) {
  const Shape operand = r.shape(e.inputs[0]);
  const Dtype dtype = r.dtype(e.inputs[1]);
  const int64_t n = operand[h.axis];
  ValueId index = arranged(r, e.inputs[1], h.positions);
  if (e.params.get<GatherParams>().clip) {
    index = r.emit(min_p, {index, r.add_scalar(dtype, static_cast<double>(n - 1))});
    index = r.emit(max_p, {index, r.add_scalar(dtype, 0)});
  }
  Shape along = Shape::filled(operand.rank(), 1);
  along[h.axis] = n;
  const ValueId count = r.emit(iota_p, Params::make(IotaParams{along, dtype, h.axis}), {});
  return r.emit(eq_p, {index, count});
}

ValueId on_scatter(Rewriter& r, const Equation& e) {
  const OneHot h = one_hot(r, e);
  if (h.axis < 0) return kNone;
  const ValueId chosen = pointed(r, e, h), update = arranged(r, e.inputs[2], h.updates);
  return fit(r, r.emit(select_p, {chosen, update, r.add_scalar(r.dtype(update), 0)}),
             r.shape(e.inputs[0]));
}

ValueId on_gather(Rewriter& r, const Equation& e) {
  constexpr int64_t kFew = 32;
  const ValueId x = e.inputs[0];
  const Shape to =
      output_avals(gather_p, std::vector<const Aval*>{&r.aval(x), &r.aval(e.inputs[1])},
                   e.params)[0]
          .shape;
  const OneHot h = places(r, e, to);
  if (h.axis < 0 || r.shape(x)[h.axis] > kFew) return kNone;
  // What is left without the axis must be the result but for axes of size 1.
  int64_t last = -1;
  for (const int64_t i : h.updates) {
    if (i < 0 || to[static_cast<int>(i)] == 1) continue;
    if (i < last) return kNone;
    last = i;
  }
  const ValueId chosen = pointed(r, e, h);
  const ValueId one = r.emit(select_p, {chosen, x, r.add_scalar(r.dtype(x), 0)});
  return reshaped(r, r.emit(reduce_sum_p, Params::make(ReduceParams{{h.axis}}), {one}), to);
}

// The sum along the axis of what writes one place of it is the update.
ValueId on_sum(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0], scatter_add_p);
  if (s == nullptr || !s->params.get<GatherParams>().clip) return kNone;
  const OneHot h = one_hot(r, *s);
  const Axes& axes = e.params.get<ReduceParams>().axes;
  if (h.axis < 0 || !axes.contains(h.axis)) return kNone;
  const ValueId update = arranged(r, s->inputs[2], h.updates);
  return r.emit(reduce_sum_p, e.params, {update});
}

ValueId as_select(Rewriter& r, const Equation& e) {
  if (e.primitive == &reduce_sum_p) return on_sum(r, e);
  return kNone;
}

ValueId dense(Rewriter& r, const Equation& e) {
  if (e.primitive == &scatter_add_p) return on_scatter(r, e);
  if (e.primitive == &gather_p) return on_gather(r, e);
  return kNone;
}

}  // namespace

Graph scatter_to_select(Graph graph) {
  return rewrite(rewrite(std::move(graph), as_select, scatter_to_select), dense, nullptr);
}

}  // namespace spruce::passes
