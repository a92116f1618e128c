// SPDX-License-Identifier: Apache-2.0
// Products take axes in any order, so transposes around them go away: into their parameters, or
// next to them, where their kernels read and write across them (core/rules/layouts.h). A product of
// single elements is a multiplication. The order of summation may change, and a zero may get the
// other sign.
#include <algorithm>

#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

// A product, whose result is wanted with its axes in the order `perm` (empty: as they are).
struct Dot {
  ValueId lhs, rhs;
  DotParams d;
  Axes perm;
};

using rules::axis_range, rules::free_axes, rules::rising;

// How many axes of the result are of the batch, of lhs and of rhs alone.
struct Ranks {
  int batch, lhs, rhs;
};

Ranks ranks_of(const Rewriter& r, const Dot& p) {
  const int batch = p.d.lhs_batch.rank();
  return {batch, r.shape(p.lhs).rank() - batch - p.d.lhs_contract.rank(),
          r.shape(p.rhs).rank() - batch - p.d.rhs_contract.rank()};
}

// Operands in the other order: the same product with another perm.
Dot swapped(const Rewriter& r, const Dot& p) {
  const Ranks n = ranks_of(r, p);
  const Axes perm = p.perm.empty() ? axis_range(0, n.batch + n.lhs + n.rhs) : p.perm;
  Dot out{p.rhs, p.lhs, {p.d.rhs_contract, p.d.lhs_contract, p.d.rhs_batch, p.d.lhs_batch}, perm};
  for (int64_t& i : out.perm) {
    if (i < n.batch) continue;
    i += i < n.batch + n.lhs ? n.rhs : -n.lhs;
  }
  return out;
}

// The sizes of the result's axes, in dot_general's order.
Shape sizes(const Rewriter& r, const Dot& p) {
  const Shape a = r.shape(p.lhs), b = r.shape(p.rhs);
  Shape out;
  for (const int64_t i : p.d.lhs_batch) out.push_back(a[static_cast<int>(i)]);
  for (const int64_t i : free_axes(a.rank(), p.d.lhs_contract, p.d.lhs_batch))
    out.push_back(a[static_cast<int>(i)]);
  for (const int64_t i : free_axes(b.rank(), p.d.rhs_contract, p.d.rhs_batch))
    out.push_back(b[static_cast<int>(i)]);
  return out;
}

// True if axes in this order leave the elements of such an array where they are.
bool in_place(const Shape& shape, const Axes& perm) {
  int64_t last = -1;
  for (const int64_t i : perm) {
    if (shape[static_cast<int>(i)] == 1) continue;
    if (i < last) return false;
    last = i;
  }
  return true;
}

// The product as one equation, of the operands in either order; kNone where there is none.
ValueId made(Rewriter& r, Dot p) {
  for (int turn = 0; turn < 2; ++turn) {
    const Shape plain = sizes(r, p);
    if (in_place(plain, p.perm)) {
      Shape to = plain;
      for (int i = 0; i < p.perm.rank(); ++i) to[i] = plain[static_cast<int>(p.perm[i])];
      return reshaped(r, r.emit(dot_general_p, dot_params(p.d), {p.lhs, p.rhs}), to);
    }
    p = swapped(r, p);
  }
  // Batch axes in front may stand in any order.
  const Ranks n = ranks_of(r, p);
  if (n.batch < 2) return kNone;
  Axes order;
  for (int i = 0; i < n.batch && p.perm[i] < n.batch; ++i) order.push_back(p.perm[i]);
  if (order.rank() < n.batch || rising(order)) return kNone;
  Dot q = p;
  for (int i = 0; i < n.batch; ++i) {
    q.d.lhs_batch[i] = p.d.lhs_batch[static_cast<int>(order[i])];
    q.d.rhs_batch[i] = p.d.rhs_batch[static_cast<int>(order[i])];
    q.perm[i] = i;
  }
  return made(r, q);
}

// Reads an operand before its transpose; false where it has none.
bool absorbs(const Rewriter& r, Dot& p, bool left) {
  const Equation* t = r.source(left ? p.lhs : p.rhs, transpose_p);
  if (t == nullptr) return false;
  const Axes& order = t->params.get<TransposeParams>().perm;
  Axes& contract = left ? p.d.lhs_contract : p.d.rhs_contract;
  Axes& batch = left ? p.d.lhs_batch : p.d.rhs_batch;
  const Ranks n = ranks_of(r, p);
  const Axes free = free_axes(order.rank(), contract, batch);
  const auto before = [&](Axes axes) {
    for (int64_t& i : axes) i = order[static_cast<int>(i)];
    return axes;
  };
  const Axes moved = before(free);  // in the order of the result; the product gives them rising
  Axes sorted = moved;
  std::sort(sorted.begin(), sorted.end());
  if (p.perm.empty()) p.perm = axis_range(0, n.batch + n.lhs + n.rhs);
  const int first = n.batch + (left ? 0 : n.lhs);
  for (int64_t& i : p.perm) {
    if (i < first || i >= first + free.rank()) continue;
    const int64_t axis = moved[static_cast<int>(i) - first];
    i = first + (std::find(sorted.begin(), sorted.end(), axis) - sorted.begin());
  }
  contract = before(contract);
  batch = before(batch);
  (left ? p.lhs : p.rhs) = t->inputs[0];
  return true;
}

// With at most one element to sum, a multiplication; operands are [batch, free] in that order.
ValueId multiplied(Rewriter& r, const Dot& p) {
  int64_t each = 1;
  for (const int64_t i : p.d.lhs_contract) each *= r.shape(p.lhs)[static_cast<int>(i)];
  if (each != 1 || !p.perm.empty()) return kNone;
  const Ranks n = ranks_of(r, p);
  const auto in_order = [&](const Shape& shape, const Axes& contract, const Axes& batch) {
    int64_t last = -1;
    bool ok = true;
    const auto see = [&](const Axes& axes) {
      for (const int64_t i : axes) {
        if (shape[static_cast<int>(i)] == 1) continue;
        ok = ok && i > last;
        last = i;
      }
    };
    see(batch);
    see(free_axes(shape.rank(), contract, batch));
    return ok;
  };
  const Shape a = r.shape(p.lhs), b = r.shape(p.rhs);
  if (!in_order(a, p.d.lhs_contract, p.d.lhs_batch) ||
      !in_order(b, p.d.rhs_contract, p.d.rhs_batch))
    return kNone;
  Shape left, right;
  for (const int64_t i : p.d.lhs_batch) left.push_back(a[static_cast<int>(i)]);
  right = left;
  for (const int64_t i : free_axes(a.rank(), p.d.lhs_contract, p.d.lhs_batch))
    left.push_back(a[static_cast<int>(i)]);
  for (int i = 0; i < n.lhs; ++i) right.push_back(1);
  for (const int64_t i : free_axes(b.rank(), p.d.rhs_contract, p.d.rhs_batch)) {
    left.push_back(1);
    right.push_back(b[static_cast<int>(i)]);
  }
  const ValueId x = reshaped(r, p.lhs, left), y = reshaped(r, p.rhs, right);
  return r.emit(is_bool(r.dtype(x)) ? and_p : mul_p, {x, y});
}

Dot dot_of(const Equation& e) { return {e.inputs[0], e.inputs[1], e.params.get<DotParams>(), {}}; }

ValueId on_dot(Rewriter& r, const Equation& e) {
  const Dot p = dot_of(e);
  if (const ValueId v = multiplied(r, p); v != kNone) return v;
  for (const bool left : {true, false}) {
    Dot q = p;
    if (!absorbs(r, q, left)) continue;
    if (const ValueId v = made(r, q); v != kNone) return v;
  }
  return kNone;
}

// The transpose of an elementwise operation whose operands, transposed, are reshapes.
ValueId of_elementwise(Rewriter& r, const Equation& e, const Axes& perm) {
  std::vector<ValueId> in;
  std::vector<Shape> shapes;
  for (const ValueId v : e.inputs) {
    Shape s = r.shape(v), to;
    while (s.rank() < perm.rank()) s.insert(0, 1);
    if (!in_place(s, perm)) return kNone;
    for (const int64_t i : perm) to.push_back(s[static_cast<int>(i)]);
    shapes.push_back(to);
  }
  // The result keeps its axes where all operands are single elements.
  const bool single = r.aval(e.outputs[0]).numel() == 1;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool scalar = !single && r.aval(e.inputs[i]).numel() == 1;
    in.push_back(reshaped(r, e.inputs[i], scalar ? Shape{} : shapes[i]));
  }
  return r.emit(*e.primitive, e.params, in);
}

// The transpose of a product, perhaps of what its operands are transposes of; kNone for none.
ValueId of_dot(Rewriter& r, const Equation& dot, const Axes& perm) {
  Dot p = dot_of(dot);
  p.perm = perm;
  if (const ValueId v = made(r, p); v != kNone) return v;
  for (const bool left : {true, false}) {
    if (!absorbs(r, p, left)) continue;
    if (const ValueId v = made(r, p); v != kNone) return v;
  }
  return kNone;
}

// Whether the kernel writes the transpose of a product.
bool writes_transposed(const Rewriter& r, const Equation& dot, const Axes& perm) {
  const Aval& out = r.aval(dot.outputs[0]);
  const Shape strides = rules::strides_in_transpose(out.shape, perm);
  const Aval *in[] = {&r.aval(dot.inputs[0]), &r.aval(dot.inputs[1])}, *outs[] = {&out};
  return dot_general_p.takes_strides({in, outs, dot.params, true, 0, strides});
}

// The transpose of a product that is scaled or otherwise changed element by element.
ValueId of_changed_dot(Rewriter& r, const Equation& e, const Axes& perm) {
  const auto is_one = [&](ValueId v) { return r.aval(v).numel() == 1; };
  const auto dot = std::find_if_not(e.inputs.begin(), e.inputs.end(), is_one);
  if (dot == e.inputs.end() || !std::all_of(dot + 1, e.inputs.end(), is_one)) return kNone;
  const Equation* s = r.source(*dot);
  if (s == nullptr || s->primitive != &dot_general_p || r.uses(*dot) > 1 ||
      r.shape(*dot).rank() != perm.rank())
    return kNone;
  ValueId moved = of_dot(r, *s, perm);
  if (moved == kNone) {
    if (!writes_transposed(r, *s, perm)) return kNone;
    moved = r.emit(transpose_p, Params::make(TransposeParams{perm}), {*dot});
  }
  std::vector<ValueId> in = e.inputs;
  for (ValueId& v : in) v = v == *dot ? moved : reshaped(r, v, {});
  return r.emit(*e.primitive, e.params, in);
}

ValueId on_transpose(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0]);
  if (s == nullptr || r.uses(e.inputs[0]) > 1) return kNone;
  const Axes& perm = e.params.get<TransposeParams>().perm;
  if (s->primitive == &dot_general_p) return of_dot(r, *s, perm);
  if (s->primitive->kind == PrimitiveKind::kElementwise && s->primitive->expand == nullptr) {
    const ValueId changed = of_changed_dot(r, *s, perm);
    return changed != kNone ? changed : of_elementwise(r, *s, perm);
  }
  return kNone;
}

// Transposes of all operands of an elementwise operation are one of its result.
ValueId on_elementwise(Rewriter& r, const Equation& e) {
  if (e.primitive->expand != nullptr && e.inputs.size() > 1) return kNone;
  const Shape shape = broadcast_shape(r, e);
  Params perm;
  std::vector<ValueId> in = e.inputs;
  for (ValueId& v : in) {
    if (r.aval(v).numel() == 1) {
      v = reshaped(r, v, {});
      continue;
    }
    const Equation* t = r.source(v, transpose_p);
    if (t == nullptr || r.uses(v) > 1 || !(r.shape(v) == shape)) return kNone;
    if (!perm.empty() && !(perm == t->params)) return kNone;
    const Equation* dot = r.source(t->inputs[0], dot_general_p);
    if (dot != nullptr && writes_transposed(r, *dot, t->params.get<TransposeParams>().perm))
      return kNone;
    perm = t->params;
    v = t->inputs[0];
  }
  if (perm.empty()) return kNone;
  return r.emit(transpose_p, perm, {r.emit(*e.primitive, e.params, in)});
}

// A sum along batch axes of a product joins the sum of the product.
ValueId on_sum(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0], dot_general_p);
  const Dtype dtype = r.dtype(e.inputs[0]);
  if (s == nullptr || r.uses(e.inputs[0]) > 1 || dtype == Dtype::kFloat16 ||
      dtype == Dtype::kBfloat16)
    return kNone;
  const auto& d = s->params.get<DotParams>();
  DotParams q{d.lhs_contract, d.rhs_contract, {}, {}};
  const Axes& axes = e.params.get<ReduceParams>().axes;
  for (const int64_t i : axes) {
    if (i >= d.lhs_batch.rank()) return kNone;
  }
  for (int i = 0; i < d.lhs_batch.rank(); ++i) {
    const bool summed = axes.contains(i);
    (summed ? q.lhs_contract : q.lhs_batch).push_back(d.lhs_batch[i]);
    (summed ? q.rhs_contract : q.rhs_batch).push_back(d.rhs_batch[i]);
  }
  return r.emit(dot_general_p, dot_params(q), {s->inputs[0], s->inputs[1]});
}

ValueId simpler(Rewriter& r, const Equation& e) {
  if (e.primitive == &dot_general_p) return on_dot(r, e);
  if (e.primitive == &transpose_p) return on_transpose(r, e);
  if (e.primitive == &reduce_sum_p) return on_sum(r, e);
  if (e.primitive->kind == PrimitiveKind::kElementwise && !e.inputs.empty())
    return on_elementwise(r, e);
  return kNone;
}

}  // namespace

Graph fold_transposes(Graph graph) { return rewrite(std::move(graph), simpler, fold_transposes); }

}  // namespace spruce::passes
