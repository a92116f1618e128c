// SPDX-License-Identifier: Apache-2.0
// Rules of arithmetic. Each is exact for floats, NaN and infinities included, except that some may
// give a zero the other sign where their comment says "zeros".
#include <cmath>
#include <unordered_map>

#include "spruce/core/ops/math.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/control/primitives.h"
#include "spruce/transforms/passes/match.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {
namespace {

bool is_number(const Rewriter& r, ValueId v, double x) { return number(r, v) == x; }

// x where v is -x.
ValueId negated(const Rewriter& r, ValueId v) {
  const Equation* e = r.source(v, neg_p);
  return e == nullptr ? kNone : e->inputs[0];
}

// True if v is p, a bool, as a number.
bool counts(const Rewriter& r, ValueId v, ValueId p) {
  const Equation* e = r.source(v, convert_element_type_p);
  return e != nullptr && e->inputs[0] == p && is_bool(r.dtype(p));
}

// x where v is x * p and p, a bool, is true.
ValueId within(const Rewriter& r, ValueId v, ValueId p) {
  const Equation* e = r.source(v, mul_p);
  if (e == nullptr) return kNone;
  for (const size_t i : {0, 1}) {
    if (counts(r, e->inputs[i], p)) return e->inputs[1 - i];
  }
  return kNone;
}

// The input of a binary equation that is a number, and the other one.
struct Scaled {
  double factor;
  ValueId x;
};
std::optional<Scaled> scaled(const Rewriter& r, const Equation& e) {
  for (const size_t i : {0, 1}) {
    if (const auto n = number(r, e.inputs[i])) return Scaled{*n, e.inputs[1 - i]};
  }
  return std::nullopt;
}

ValueId constant_of(Rewriter& r, double x, Dtype dtype, const Shape& shape) {
  return fit(r, r.add_scalar(dtype, x), shape);
}

ValueId on_identity(Rewriter&, const Equation& e) { return e.inputs[0]; }

ValueId on_neg(Rewriter& r, const Equation& e) {
  const ValueId x = e.inputs[0];
  if (const ValueId y = negated(r, x); y != kNone) return y;
  if (const Equation* s = r.source(x, reshape_p)) {
    if (const ValueId y = negated(r, s->inputs[0]); y != kNone) return reshaped(r, y, r.shape(x));
  }
  if (!is_floating(r.dtype(x)) || r.uses(x) > 1) return kNone;
  if (const Equation* s = r.source(x, sub_p))  // zeros
    return r.emit(sub_p, {s->inputs[1], s->inputs[0]});
  if (const Equation* m = r.source(x, mul_p)) {
    if (const auto c = scaled(r, *m)) {
      return fit(r, r.emit(mul_p, {c->x, r.add_scalar(r.dtype(x), -c->factor)}), r.shape(x));
    }
  }
  return kNone;
}

ValueId on_add(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0], b = e.inputs[1];
  if (is_bool(r.dtype(a))) return kNone;
  for (const size_t i : {0, 1}) {  // zeros
    if (is_number(r, e.inputs[i], 0)) return fit(r, e.inputs[1 - i], broadcast_shape(r, e));
  }
  if (const ValueId y = negated(r, b); y != kNone) return r.emit(sub_p, {a, y});
  if (const ValueId x = negated(r, a); x != kNone) return r.emit(sub_p, {b, x});
  return kNone;
}

ValueId on_sub(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0], b = e.inputs[1];
  if (is_number(r, b, 0)) return fit(r, a, broadcast_shape(r, e));
  if (is_number(r, a, 0)) return fit(r, r.emit(neg_p, {b}), broadcast_shape(r, e));  // zeros
  if (const ValueId y = negated(r, b); y != kNone) return r.emit(add_p, {a, y});
  return kNone;
}

ValueId on_mul(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0], b = e.inputs[1];
  const Dtype dtype = r.dtype(a);
  if (is_bool(dtype)) return kNone;
  const ValueId x = negated(r, a), y = negated(r, b);
  if (x != kNone && y != kNone) return r.emit(mul_p, {x, y});
  for (const size_t i : {0, 1}) {  // zeros outside of p stay zeros times p
    const Equation* s = r.source(e.inputs[i], select_p);
    if (s != nullptr && is_number(r, s->inputs[2], 0) && counts(r, e.inputs[1 - i], s->inputs[0]))
      return fit(r, e.inputs[i], broadcast_shape(r, e));
  }
  const auto c = scaled(r, e);
  if (!c) return kNone;
  const Shape shape = broadcast_shape(r, e);
  if (c->factor == 1) return fit(r, c->x, shape);
  if (is_floating(dtype)) {
    if (c->factor == -1) return fit(r, r.emit(neg_p, {c->x}), shape);
    if (const ValueId z = negated(r, c->x); z != kNone)
      return fit(r, r.emit(mul_p, {z, r.add_scalar(dtype, -c->factor)}), shape);
  } else if (c->factor == 0) {
    return constant_of(r, 0, dtype, shape);
  }
  return kNone;
}

// Dividing by a power of two is multiplying by its inverse.
bool inverts(double x, Dtype dtype) {
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(x), &exponent);
  const int most = dtype == Dtype::kFloat64 ? 1000 : dtype == Dtype::kFloat16 ? 13 : 120;
  return is_floating(dtype) && mantissa == 0.5 && exponent > -most && exponent < most;
}

ValueId on_div(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0], b = e.inputs[1];
  const Dtype dtype = r.dtype(a);
  const auto c = number(r, b);
  if (c == 1.0) return fit(r, a, broadcast_shape(r, e));
  if (!is_floating(dtype)) return kNone;
  if (c && inverts(*c, dtype))
    return fit(r, r.emit(mul_p, {a, r.add_scalar(dtype, 1 / *c)}), broadcast_shape(r, e));
  const ValueId x = negated(r, a), y = negated(r, b);
  if (x != kNone && y != kNone) return r.emit(div_p, {x, y});
  if (x != kNone && c)
    return fit(r, r.emit(div_p, {x, r.add_scalar(dtype, -*c)}), broadcast_shape(r, e));
  return kNone;
}

ValueId on_pow(Rewriter& r, const Equation& e) {
  const auto n = number(r, e.inputs[1]);
  const Dtype dtype = r.dtype(e.inputs[0]);
  if (!n || !is_floating(dtype)) return kNone;
  const Shape shape = broadcast_shape(r, e);
  if (*n == 0) return constant_of(r, 1, dtype, shape);
  if (*n == 1) return fit(r, e.inputs[0], shape);
  // One rounding, as little as pow can have.
  if (*n == 2 || *n == -1) {
    const auto power = Params::make(IntegerPowParams{static_cast<int64_t>(*n)});
    return fit(r, r.emit(integer_pow_p, power, {e.inputs[0]}), shape);
  }
  return kNone;
}

ValueId on_integer_pow(Rewriter& r, const Equation& e) {
  const int64_t n = e.params.get<IntegerPowParams>().n;
  const ValueId x = e.inputs[0];
  if (n == 0) return constant_of(r, 1, r.dtype(x), r.shape(x));
  if (n == 1) return x;
  const ValueId y = negated(r, x);
  return n % 2 == 0 && y != kNone ? r.emit(integer_pow_p, e.params, {y}) : kNone;
}

ValueId on_abs(Rewriter& r, const Equation& e) {
  if (r.source(e.inputs[0], abs_p) != nullptr) return e.inputs[0];
  const ValueId y = negated(r, e.inputs[0]);
  return y == kNone ? kNone : r.emit(abs_p, {y});
}

ValueId on_max_min(Rewriter&, const Equation& e) {
  return e.inputs[0] == e.inputs[1] ? e.inputs[0] : kNone;
}

ValueId on_and_or(Rewriter& r, const Equation& e) {
  if (e.inputs[0] == e.inputs[1]) return e.inputs[0];
  if (!is_bool(r.dtype(e.inputs[0]))) return kNone;
  const auto c = scaled(r, e);
  if (!c) return kNone;
  const Shape shape = broadcast_shape(r, e);
  const bool keeps = (c->factor != 0) == (e.primitive == &and_p);
  return keeps ? fit(r, c->x, shape) : constant_of(r, c->factor, Dtype::kBool, shape);
}

ValueId on_not(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0]);
  if (s == nullptr) return kNone;
  if (s->primitive == &not_p) return s->inputs[0];
  if (s->primitive == &eq_p) return r.emit(ne_p, {s->inputs[0], s->inputs[1]});
  if (s->primitive == &ne_p) return r.emit(eq_p, {s->inputs[0], s->inputs[1]});
  return kNone;
}

ValueId on_select(Rewriter& r, const Equation& e) {
  const ValueId p = e.inputs[0], a = e.inputs[1], b = e.inputs[2];
  if (const auto c = number(r, p)) return fit(r, *c != 0 ? a : b, broadcast_shape(r, e));
  if (a == b) return fit(r, a, broadcast_shape(r, e));
  if (const Equation* s = r.source(p, not_p)) return r.emit(select_p, {s->inputs[0], b, a});
  if (const ValueId x = within(r, a, p); x != kNone)
    return fit(r, r.emit(select_p, {p, x, b}), broadcast_shape(r, e));
  const Equation *x = r.source(a, select_p), *y = r.source(b, select_p);
  const bool first = x != nullptr && x->inputs[0] == p, second = y != nullptr && y->inputs[0] == p;
  if (!first && !second) return kNone;
  const ValueId left = first ? x->inputs[1] : a, right = second ? y->inputs[2] : b;
  return fit(r, r.emit(select_p, {p, left, right}), broadcast_shape(r, e));
}

// True if every `from` is a `to`, so that converting further forgets that it was one.
bool keeps_all(Dtype from, Dtype to) {
  if (is_bool(from)) return true;
  const int64_t a = size_of(from), b = size_of(to);
  if (is_floating(from)) return is_floating(to) && (b > a || from == to);
  if (is_floating(to)) return a <= 1 || (a <= 2 && b >= 4) || (a <= 4 && b == 8);
  if (is_bool(to)) return false;
  const bool sign_from = is_signed_integer(from), sign_to = is_signed_integer(to);
  return sign_from == sign_to ? b >= a : (sign_to && b > a);
}

ValueId on_convert(Rewriter& r, const Equation& e) {
  const ConvertParams& p = e.params.get<ConvertParams>();
  const ValueId x = e.inputs[0];
  if (p.weak) return kNone;
  if (r.dtype(x) == p.dtype) return x;
  const Equation* inner = r.source(x, convert_element_type_p);
  if (inner == nullptr) return kNone;
  const ValueId y = inner->inputs[0];
  const Dtype from = r.dtype(y), by = r.dtype(x);
  // A float that came from an integer saturates where the integer would have wrapped.
  const bool kinds = is_floating(p.dtype) || is_bool(from) || is_floating(by) == is_floating(from);
  return keeps_all(from, by) && kinds ? r.emit(convert_element_type_p, e.params, {y}) : kNone;
}

using Table = std::unordered_map<const Primitive*, Rule>;

const Table& rules() {
  static const Table all = {{&neg_p, on_neg},
                            {&add_p, on_add},
                            {&sub_p, on_sub},
                            {&mul_p, on_mul},
                            {&div_p, on_div},
                            {&pow_p, on_pow},
                            {&integer_pow_p, on_integer_pow},
                            {&abs_p, on_abs},
                            {&max_p, on_max_min},
                            {&min_p, on_max_min},
                            {&and_p, on_and_or},
                            {&or_p, on_and_or},
                            {&not_p, on_not},
                            {&select_p, on_select},
                            {&convert_element_type_p, on_convert},
                            {&copy_p, on_identity},
                            {&stop_gradient_p, on_identity},
                            {&guard_p, on_identity}};
  return all;
}

ValueId simpler(Rewriter& r, const Equation& e) {
  const auto it = rules().find(e.primitive);
  return it == rules().end() ? kNone : it->second(r, e);
}

}  // namespace

Graph algebra(const Graph& graph) { return rewrite(graph, simpler, algebra); }

}  // namespace spruce::passes
