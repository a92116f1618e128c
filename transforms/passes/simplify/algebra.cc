// SPDX-License-Identifier: Apache-2.0
// Rules of arithmetic: the list with their dtypes is laws(), at the end.
#include "spruce/transforms/passes/simplify/algebra.h"

#include <cmath>
#include <unordered_map>

#include "spruce/core/ops/math.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rules.h"
#include "spruce/transforms/passes/simplify/match.h"
#include "spruce/transforms/rules/control_primitives.h"

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

ValueId identity(Rewriter&, const Equation& e) { return e.inputs[0]; }

ValueId neg_of_neg(Rewriter& r, const Equation& e) {
  const ValueId x = e.inputs[0];
  if (const ValueId y = negated(r, x); y != kNone) return y;
  const Equation* s = r.source(x, reshape_p);
  const ValueId y = s == nullptr ? kNone : negated(r, s->inputs[0]);
  return y == kNone ? kNone : reshaped(r, y, r.shape(x));
}

ValueId neg_of_difference(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0], sub_p);
  if (s == nullptr || r.uses(e.inputs[0]) > 1) return kNone;
  return r.emit(sub_p, {s->inputs[1], s->inputs[0]});
}

ValueId neg_of_multiple(Rewriter& r, const Equation& e) {
  const ValueId x = e.inputs[0];
  const Equation* m = r.source(x, mul_p);
  const auto c = m == nullptr || r.uses(x) > 1 ? std::nullopt : scaled(r, *m);
  if (!c) return kNone;
  return fit(r, r.emit(mul_p, {c->x, r.add_scalar(r.dtype(x), -c->factor)}), r.shape(x));
}

ValueId add_zero(Rewriter& r, const Equation& e) {
  for (const size_t i : {0, 1}) {
    if (is_number(r, e.inputs[i], 0)) return fit(r, e.inputs[1 - i], broadcast_shape(r, e));
  }
  return kNone;
}

ValueId add_negated(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0], b = e.inputs[1];
  if (const ValueId y = negated(r, b); y != kNone) return r.emit(sub_p, {a, y});
  if (const ValueId x = negated(r, a); x != kNone) return r.emit(sub_p, {b, x});
  return kNone;
}

ValueId sub_zero(Rewriter& r, const Equation& e) {
  return is_number(r, e.inputs[1], 0) ? fit(r, e.inputs[0], broadcast_shape(r, e)) : kNone;
}

ValueId sub_from_zero(Rewriter& r, const Equation& e) {
  if (!is_number(r, e.inputs[0], 0)) return kNone;
  return fit(r, r.emit(neg_p, {e.inputs[1]}), broadcast_shape(r, e));
}

ValueId sub_negated(Rewriter& r, const Equation& e) {
  const ValueId y = negated(r, e.inputs[1]);
  return y == kNone ? kNone : r.emit(add_p, {e.inputs[0], y});
}

// For mul and div.
ValueId both_negated(Rewriter& r, const Equation& e) {
  const ValueId x = negated(r, e.inputs[0]), y = negated(r, e.inputs[1]);
  return x == kNone || y == kNone ? kNone : r.emit(*e.primitive, {x, y});
}

ValueId mul_choice(Rewriter& r, const Equation& e) {
  for (const size_t i : {0, 1}) {
    const Equation* s = r.source(e.inputs[i], select_p);
    if (s != nullptr && is_number(r, s->inputs[2], 0) && counts(r, e.inputs[1 - i], s->inputs[0]))
      return fit(r, e.inputs[i], broadcast_shape(r, e));
  }
  return kNone;
}

ValueId mul_one(Rewriter& r, const Equation& e) {
  const auto c = scaled(r, e);
  return c && c->factor == 1 ? fit(r, c->x, broadcast_shape(r, e)) : kNone;
}

ValueId mul_negative(Rewriter& r, const Equation& e) {
  const auto c = scaled(r, e);
  if (!c) return kNone;
  const Shape shape = broadcast_shape(r, e);
  if (c->factor == -1) return fit(r, r.emit(neg_p, {c->x}), shape);
  const ValueId z = negated(r, c->x);
  if (z == kNone) return kNone;
  return fit(r, r.emit(mul_p, {z, r.add_scalar(r.dtype(z), -c->factor)}), shape);
}

ValueId mul_zero(Rewriter& r, const Equation& e) {
  const auto c = scaled(r, e);
  if (!c || c->factor != 0) return kNone;
  return constant_of(r, 0, r.dtype(e.inputs[0]), broadcast_shape(r, e));
}

// Dividing by a power of two is multiplying by its inverse.
bool inverts(double x, Dtype dtype) {
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(x), &exponent);
  const int most = dtype == Dtype::kFloat64 ? 1000 : dtype == Dtype::kFloat16 ? 13 : 120;
  return is_floating(dtype) && mantissa == 0.5 && exponent > -most && exponent < most;
}

ValueId div_one(Rewriter& r, const Equation& e) {
  return is_number(r, e.inputs[1], 1) ? fit(r, e.inputs[0], broadcast_shape(r, e)) : kNone;
}

ValueId div_power_of_two(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[0];
  const auto c = number(r, e.inputs[1]);
  if (!c || !inverts(*c, r.dtype(a))) return kNone;
  return fit(r, r.emit(mul_p, {a, r.add_scalar(r.dtype(a), 1 / *c)}), broadcast_shape(r, e));
}

ValueId div_negated(Rewriter& r, const Equation& e) {
  const ValueId x = negated(r, e.inputs[0]);
  const auto c = number(r, e.inputs[1]);
  if (x == kNone || !c) return kNone;
  return fit(r, r.emit(div_p, {x, r.add_scalar(r.dtype(x), -*c)}), broadcast_shape(r, e));
}

ValueId pow_whole(Rewriter& r, const Equation& e) {
  const auto n = number(r, e.inputs[1]);
  if (!n) return kNone;
  const Shape shape = broadcast_shape(r, e);
  if (*n == 0) return constant_of(r, 1, r.dtype(e.inputs[0]), shape);
  if (*n == 1) return fit(r, e.inputs[0], shape);
  // One rounding, as little as pow can have.
  if (*n != 2 && *n != -1) return kNone;
  const auto power = Params::make(IntegerPowParams{static_cast<int64_t>(*n)});
  return fit(r, r.emit(integer_pow_p, power, {e.inputs[0]}), shape);
}

ValueId integer_pow_small(Rewriter& r, const Equation& e) {
  const int64_t n = e.params.get<IntegerPowParams>().n;
  const ValueId x = e.inputs[0];
  return n == 0 ? constant_of(r, 1, r.dtype(x), r.shape(x)) : n == 1 ? x : kNone;
}

ValueId integer_pow_even(Rewriter& r, const Equation& e) {
  const ValueId y = negated(r, e.inputs[0]);
  const bool even = e.params.get<IntegerPowParams>().n % 2 == 0;
  return even && y != kNone ? r.emit(integer_pow_p, e.params, {y}) : kNone;
}

ValueId abs_of_abs(Rewriter& r, const Equation& e) {
  return r.source(e.inputs[0], abs_p) != nullptr ? e.inputs[0] : kNone;
}

ValueId abs_of_negated(Rewriter& r, const Equation& e) {
  const ValueId y = negated(r, e.inputs[0]);
  return y == kNone ? kNone : r.emit(abs_p, {y});
}

ValueId same_operands(Rewriter&, const Equation& e) {
  return e.inputs[0] == e.inputs[1] ? e.inputs[0] : kNone;
}

ValueId and_or_constant(Rewriter& r, const Equation& e) {
  const auto c = scaled(r, e);
  if (!c) return kNone;
  const Shape shape = broadcast_shape(r, e);
  const bool keeps = (c->factor != 0) == (e.primitive == &and_p);
  return keeps ? fit(r, c->x, shape) : constant_of(r, c->factor, Dtype::kBool, shape);
}

ValueId not_of_not(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0], not_p);
  return s == nullptr ? kNone : s->inputs[0];
}

ValueId not_of_equal(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0]);
  if (s == nullptr) return kNone;
  if (s->primitive == &eq_p) return r.emit(ne_p, {s->inputs[0], s->inputs[1]});
  if (s->primitive == &ne_p) return r.emit(eq_p, {s->inputs[0], s->inputs[1]});
  return kNone;
}

ValueId select_known(Rewriter& r, const Equation& e) {
  const ValueId a = e.inputs[1], b = e.inputs[2];
  const auto c = number(r, e.inputs[0]);
  if (!c && a != b) return kNone;
  return fit(r, !c || *c != 0 ? a : b, broadcast_shape(r, e));
}

ValueId select_by_not(Rewriter& r, const Equation& e) {
  const Equation* s = r.source(e.inputs[0], not_p);
  return s == nullptr ? kNone : r.emit(select_p, {s->inputs[0], e.inputs[2], e.inputs[1]});
}

ValueId select_product(Rewriter& r, const Equation& e) {
  const ValueId p = e.inputs[0], x = within(r, e.inputs[1], p);
  if (x == kNone) return kNone;
  return fit(r, r.emit(select_p, {p, x, e.inputs[2]}), broadcast_shape(r, e));
}

ValueId select_of_select(Rewriter& r, const Equation& e) {
  const ValueId p = e.inputs[0], a = e.inputs[1], b = e.inputs[2];
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

ValueId direct_conversion(Rewriter& r, const Equation& e) {
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

// The rules of each primitive, in order.
const std::vector<const Law*>& laws_of(const Primitive& p) {
  using Table = std::unordered_map<const Primitive*, std::vector<const Law*>>;
  static const Table& all = *new Table([] {
    Table table;
    for (const Law& law : laws()) table[law.primitive].push_back(&law);
    return table;
  }());
  static const auto& none = *new std::vector<const Law*>;
  const auto it = all.find(&p);
  return it == all.end() ? none : it->second;
}

}  // namespace

bool contains(Types types, Dtype d) {
  switch (types) {
    case Types::kAll:
      return true;
    case Types::kBool:
      return is_bool(d);
    case Types::kIntegers:
      return is_integer(d);
    case Types::kFloats:
      return is_floating(d);
    case Types::kNumbers:
      return !is_bool(d);
    case Types::kSigned:
      return is_floating(d) || is_signed_integer(d);
    default:
      return is_bool(d) || is_unsigned_integer(d);
  }
}

const std::vector<Law>& laws() {
  constexpr Zeros kAnySign = Zeros::kAnySign;
  static const auto& all = *new std::vector<Law>{
      {&neg_p, Types::kNumbers, "-(-x) = x", neg_of_neg},
      {&neg_p, Types::kFloats, "-(a - b) = b - a", neg_of_difference, kAnySign},
      {&neg_p, Types::kFloats, "-(c x) = (-c) x", neg_of_multiple},
      {&add_p, Types::kNumbers, "x + 0 = x", add_zero, kAnySign},
      {&add_p, Types::kNumbers, "a + -b = a - b", add_negated},
      {&sub_p, Types::kNumbers, "x - 0 = x", sub_zero, kAnySign},
      {&sub_p, Types::kNumbers, "0 - x = -x", sub_from_zero, kAnySign},
      {&sub_p, Types::kNumbers, "a - -b = a + b", sub_negated},
      {&mul_p, Types::kNumbers, "-a * -b = a b", both_negated},
      {&mul_p, Types::kNumbers, "where(p, x, 0) p = where(p, x, 0)", mul_choice},
      {&mul_p, Types::kNumbers, "1 x = x", mul_one},
      {&mul_p, Types::kFloats, "c * -x = (-c) x", mul_negative},
      {&mul_p, Types::kIntegers, "0 x = 0", mul_zero},
      {&div_p, Types::kNumbers, "x / 1 = x", div_one},
      {&div_p, Types::kFloats, "x / 2^n = 2^-n x", div_power_of_two},
      {&div_p, Types::kFloats, "-a / -b = a / b", both_negated},
      {&div_p, Types::kFloats, "-x / c = x / -c", div_negated},
      {&pow_p, Types::kFloats, "x^n of n = 0, 1, 2, -1", pow_whole},
      {&integer_pow_p, Types::kNumbers, "x^0 = 1, x^1 = x", integer_pow_small},
      {&integer_pow_p, Types::kNumbers, "(-x)^2n = x^2n", integer_pow_even},
      {&abs_p, Types::kUnsigned, "|x| = x", identity},
      {&abs_p, Types::kSigned, "||x|| = |x|", abs_of_abs},
      {&abs_p, Types::kSigned, "|-x| = |x|", abs_of_negated},
      {&max_p, Types::kAll, "max(x, x) = x", same_operands},
      {&min_p, Types::kAll, "min(x, x) = x", same_operands},
      {&and_p, Types::kAll, "x & x = x", same_operands},
      {&or_p, Types::kAll, "x | x = x", same_operands},
      {&and_p, Types::kBool, "x & true = x", and_or_constant},
      {&or_p, Types::kBool, "x | false = x", and_or_constant},
      {&not_p, Types::kAll, "~~x = x", not_of_not},
      {&not_p, Types::kBool, "!(a == b) = (a != b)", not_of_equal},
      {&select_p, Types::kAll, "where(true, a, b) = a", select_known},
      {&select_p, Types::kAll, "where(!p, a, b) = where(p, b, a)", select_by_not},
      {&select_p, Types::kAll, "where(p, x p, b) = where(p, x, b)", select_product},
      {&select_p, Types::kAll, "where(p, where(p, a, b), c) = where(p, a, c)", select_of_select},
      {&convert_element_type_p, Types::kAll, "T(S(x)) = T(x)", direct_conversion},
      {&copy_p, Types::kAll, "copy(x) = x", identity},
      {&stop_gradient_p, Types::kAll, "stop_gradient(x) = x", identity},
      {&guard_p, Types::kAll, "guard(x) = x", identity}};
  return all;
}

ValueId arithmetic_rule(Rewriter& r, const Equation& e) {
  for (const Law* law : laws_of(*e.primitive)) {
    if (!contains(law->types, r.dtype(e.inputs[0]))) continue;
    if (const ValueId v = law->rule(r, e); v != kNone) return v;
  }
  return kNone;
}

Graph algebra(Graph graph) { return rewrite(std::move(graph), arithmetic_rule, algebra); }

}  // namespace spruce::passes
