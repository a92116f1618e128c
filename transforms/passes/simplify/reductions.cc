// SPDX-License-Identifier: Apache-2.0
// Rules of reductions. Those of sums may round otherwise than one step at a time, with no larger
// error; the others are exact.
#include <algorithm>

#include "spruce/core/ops/math.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rules.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

ValueId reduced(Rewriter& r, const Primitive& p, ValueId x, const Axes& axes) {
  return r.emit(p, Params::make(ReduceParams{axes}), {x});
}

// The axes of the inner reduction's operand that two reductions in a row sum over.
Axes both(int rank, const Axes& inner, const Axes& outer) {
  Axes out;
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (inner.contains(i) || outer.contains(kept)) out.push_back(i);
    kept += inner.contains(i) ? 0 : 1;
  }
  return out;
}

bool repeats(const Primitive& p) {  // reducing copies of x gives x
  const Monoid m = p.reduces_by();
  return m == Monoid::kMax || m == Monoid::kMin || m == Monoid::kAnd || m == Monoid::kOr;
}

// A reduction over axes along which its operand is repeated.
ValueId of_copies(Rewriter& r, const Equation& e, const Equation& b) {
  const auto& p = b.params.get<BroadcastInDimParams>();
  const Axes& axes = e.params.get<ReduceParams>().axes;
  const ValueId y = b.inputs[0];
  Axes kept, dims;  // of y, what is reduced in earnest; of the result, where y's other axes stand
  Shape to;
  double copies = 1;
  Axes place = Shape::filled(p.shape.rank(), -1);
  for (int i = 0; i < p.shape.rank(); ++i) {
    if (axes.contains(i)) continue;
    place[i] = to.rank();
    to.push_back(p.shape[i]);
  }
  for (const int64_t i : axes) {
    const int64_t n = p.shape[static_cast<int>(i)];
    if (n == 0) return kNone;
    bool repeated = true;
    for (int k = 0; k < p.broadcast_dimensions.rank(); ++k) {
      if (p.broadcast_dimensions[k] == i && r.shape(y)[k] == n) repeated = false;
    }
    if (repeated) copies *= static_cast<double>(n);
  }
  for (int k = 0; k < p.broadcast_dimensions.rank(); ++k) {
    const int64_t at = p.broadcast_dimensions[k];
    if (axes.contains(at))
      kept.push_back(k);
    else
      dims.push_back(place[static_cast<int>(at)]);
  }
  if (copies == 1) return kNone;
  const Dtype dtype = r.dtype(y);
  if (!repeats(*e.primitive)) {
    constexpr double kExact = 1 << 24;  // copies that f32 can count
    if (is_half(dtype) || copies > kExact) return kNone;
    if (is_integer(dtype) && size_of(dtype) < 4) return kNone;
  }
  ValueId x = kept.empty() ? y : reduced(r, *e.primitive, y, kept);
  if (!repeats(*e.primitive)) x = r.emit(mul_p, {x, r.add_scalar(dtype, copies)});
  return broadcast(r, x, to, dims);
}

// The larger or smaller elements of a few arrays that were stacked for it: these are not stored
// side by side.
ValueId of_stacked(Rewriter& r, const Equation& e, const Equation& stack) {
  constexpr size_t kMostParts = 16;
  const Axes& axes = e.params.get<ReduceParams>().axes;
  const auto axis = static_cast<int>(stack.params.get<ConcatenateParams>().axis);
  if (!axes.contains(axis) || stack.inputs.size() > kMostParts) return kNone;
  for (const ValueId part : stack.inputs)
    if (r.shape(part)[axis] != 1) return kNone;
  ValueId all = kNone;
  for (const ValueId part : stack.inputs) {
    const ValueId flat = reshaped(r, part, rules::without_axes(r.shape(part), Axes{axis}));
    all = all == kNone ? flat : r.emit(*e.primitive->combine, {all, flat});
  }
  Axes others;  // of what is left, which has one axis less
  for (const int64_t i : axes)
    if (i != axis) others.push_back(i < axis ? i : i - 1);
  return others.empty() ? all : reduced(r, *e.primitive, all, others);
}

}  // namespace

ValueId reduction_rule(Rewriter& r, const Equation& e) {
  const Primitive& p = *e.primitive;
  if (p.kind != PrimitiveKind::kReduction) return kNone;
  const Axes& axes = e.params.get<ReduceParams>().axes;
  const ValueId x = e.inputs[0];
  int64_t each = 1;
  for (const int64_t i : axes) each *= r.shape(x)[static_cast<int>(i)];
  // Of one element: a reduction is the element itself.
  if (each == 1) return reshaped(r, x, rules::without_axes(r.shape(x), axes));
  const Equation* s = r.source(x);
  if (s == nullptr) return kNone;
  const Dtype dtype = r.dtype(x);
  const bool half = is_half(dtype);
  const bool sum = p.reduces_by() == Monoid::kSum;
  if (s->primitive == &p && r.uses(x) <= 1 && (repeats(p) || (sum && !half))) {
    const Axes all = both(r.shape(s->inputs[0]).rank(), s->params.get<ReduceParams>().axes, axes);
    return reduced(r, p, s->inputs[0], all);
  }
  if (s->primitive == &broadcast_in_dim_p && (repeats(p) || sum)) return of_copies(r, e, *s);
  const bool extremum = p.reduces_by() == Monoid::kMax || p.reduces_by() == Monoid::kMin;
  if (extremum && s->primitive == &concatenate_p && r.uses(x) <= 1) return of_stacked(r, e, *s);
  if (sum && s->primitive == &neg_p && r.uses(x) <= 1)
    return r.emit(neg_p, {reduced(r, p, s->inputs[0], axes)});
  if (s->primitive == &transpose_p && (repeats(p) || sum)) {
    const Axes& perm = s->params.get<TransposeParams>().perm;
    Axes from = Shape::filled(axes.rank(), 0);
    int64_t last = -1;
    bool rising = true;
    for (int k = 0, n = 0; k < perm.rank(); ++k) {
      if (axes.contains(k)) {
        from[n++] = perm[k];
      } else {
        rising = rising && perm[k] > last;
        last = perm[k];
      }
    }
    std::sort(from.begin(), from.end());
    if (rising) return reduced(r, p, s->inputs[0], from);
  }
  return kNone;
}

Graph reductions(Graph graph) { return rewrite(std::move(graph), reduction_rule, reductions); }

}  // namespace spruce::passes
