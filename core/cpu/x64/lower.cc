// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/lower.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "spruce/core/cpu/x64/half.h"
#include "spruce/core/cpu/x64/math.h"
#include "spruce/core/ops/unary.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/core/rules/optimizer.h"
#include "spruce/core/rules/shape.h"

namespace spruce::cpu::x64 {
namespace {

// What a rule sees: the dtype of the operands (of the last one for select) and their values.
struct Use {
  Builder& b;
  const Application& app;
  std::span<const int> in;

  Dtype dtype() const { return app.in.back(); }
  bool floating() const { return is_floating(dtype()); }
  bool mask() const { return is_bool(dtype()); }
  V v(size_t i) const { return b.v(in[i]); }
  M m(size_t i) const { return b.m(in[i]); }
};
using Rule = int (*)(const Use&);

constexpr int kUnknown = -1;

template <Op kFloat, Op kInt>
int arithmetic(const Use& u) {
  if (u.mask()) return kUnknown;
  return u.b.add(u.floating() ? kFloat : kInt, u.in[0], u.in[1]);
}

int div(const Use& u) { return u.floating() ? (u.v(0) / u.v(1)).id : kUnknown; }
int neg(const Use& u) {
  if (u.floating()) return negate(u.v(0)).id;
  return int_sub(u.b.bits(0), u.v(0)).id;
}
int abs_of(const Use& u) {
  if (u.floating()) return abs(u.v(0)).id;
  if (u.mask() || u.dtype() == Dtype::kUint32) return u.in[0];
  return u.b.add(Op::kIntMax, u.in[0], int_sub(u.b.bits(0), u.v(0)).id);
}

int sign(const Use& u) {
  Builder& b = u.b;
  const V x = u.v(0), zero = b.c(0);
  if (!u.floating()) return kUnknown;
  const V rest = select(is_nan(x), x, zero);
  return select(compare(x, zero, kGt), b.c(1), select(compare(x, zero, kLt), b.c(-1), rest)).id;
}

// a, where it is NaN, and otherwise b where both are equal or b is NaN.
template <Op kFloat, Op kInt>
int extremum(const Use& u) {
  if (u.floating()) return select(is_nan(u.v(0)), u.v(0), make(kFloat, u.v(0), u.v(1))).id;
  return u.dtype() == Dtype::kInt32 ? u.b.add(kInt, u.in[0], u.in[1]) : kUnknown;
}

int sqrt_of(const Use& u) { return sqrt(u.v(0)).id; }
int rsqrt(const Use& u) { return (u.b.c(1) / sqrt(u.v(0))).id; }

int integer_pow(const Use& u) {
  const int64_t n = u.app.params.get<IntegerPowParams>().n;
  const V x = u.v(0);
  const auto times = [&](V a, V b) { return u.floating() ? a * b : make(Op::kIntMul, a, b); };
  switch (n) {
    case -2:
      return (u.b.c(1) / (x * x)).id;
    case -1:
      return (u.b.c(1) / x).id;
    case 1:
      return x.id;
    case 2:
      return times(x, x).id;
    case 3:
      return times(times(x, x), x).id;
    case 4: {
      const V square = times(x, x);
      return times(square, square).id;
    }
    default:
      return kUnknown;
  }
}

int select_of(const Use& u) {
  if (!u.mask()) return select(u.m(0), u.v(1), u.v(2)).id;
  Builder& b = u.b;
  const int yes = b.add(Op::kMaskAnd, u.in[0], u.in[1]);
  const int no = b.add(Op::kMaskAnd, b.add(Op::kMaskNot, u.in[0]), u.in[2]);
  return b.add(Op::kMaskOr, yes, no);
}

template <Predicate kPredicate>
int comparison(const Use& u) {
  if (u.mask()) {
    const int differ = u.b.add(Op::kMaskXor, u.in[0], u.in[1]);
    if (kPredicate == kNe) return differ;
    return kPredicate == kEq ? u.b.add(Op::kMaskNot, differ) : kUnknown;
  }
  if (u.floating()) return compare(u.v(0), u.v(1), kPredicate).id;
  V a = u.v(0), b = u.v(1);
  if (u.dtype() == Dtype::kUint32) a = a ^ u.b.sign_bit(), b = b ^ u.b.sign_bit();
  return int_compare(a, b, kPredicate).id;
}

template <Op kBits, Op kMask>
int logical(const Use& u) {
  return u.b.add(u.mask() ? kMask : kBits, u.in[0], u.in[1]);
}
int not_of(const Use& u) {
  if (u.mask()) return u.b.add(Op::kMaskNot, u.in[0]);
  return (u.v(0) ^ u.b.bits(0xffffffffu)).id;
}

int clamp_of(const Use& u) {
  if (u.dtype() == Dtype::kInt32)
    return u.b.add(Op::kIntMin, u.b.add(Op::kIntMax, u.in[1], u.in[0]), u.in[2]);
  if (!u.floating()) return kUnknown;
  const V x = u.v(0), low = u.v(1), high = u.v(2);
  const V above = select(is_nan(low), low, make(Op::kMax, low, x));
  return select(is_nan(high), high, make(Op::kMin, high, above)).id;
}

int relu(const Use& u) {
  if (!u.floating()) return kUnknown;
  const V x = u.v(0), zero = u.b.c(0);
  return select(compare(x, zero, kNotLe), x, zero).id;
}

int scaled_add(const Use& u) {
  const auto& p = u.app.params.get<ScaledAddParams>();
  return (u.b.c(p.alpha) * u.v(0) + u.b.c(p.beta) * u.v(1)).id;
}

int adam_direction(const Use& u) {
  const auto& p = u.app.params.get<AdamDirectionParams>();
  const V one = u.b.c(1), root = sqrt(u.v(1) * (one / u.v(3)) + u.b.c(p.eps_root));
  return (u.v(0) * (one / u.v(2)) / (root + u.b.c(p.eps))).id;
}

template <RoundMode kMode>
int rounded(const Use& u) {
  return round(u.v(0), kMode).id;
}

int is_finite(const Use& u) {
  if (!u.floating()) return kUnknown;
  const double largest =
      u.b.wide() ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
  return compare(abs(u.v(0)), u.b.c(largest), kLe).id;
}

V from_unsigned(V x) {
  Builder& b = *x.b;
  const V high = from_int(shift_right(x, 16)), low = from_int(x & b.bits(0xffff));
  return fma(high, b.c(65536), low);
}

int convert(const Use& u) {
  Builder& b = u.b;
  const Dtype result = u.app.out;
  if (u.app.in[0] == result) return u.in[0];
  const auto held = [](Dtype d) { return is_half(d) ? Dtype::kFloat32 : d; };
  const Dtype from = held(u.app.in[0]), to = held(result);
  const auto is_int = [](Dtype d) { return d == Dtype::kInt32 || d == Dtype::kUint32; };
  if (is_half(result) && from == to) return round_to(result, u.v(0), Nans::kAny).id;
  if (from == to || (is_int(from) && is_int(to))) return u.in[0];
  if (is_half(to) && is_int(from)) return kUnknown;  // they are rounded once, not by way of f32
  if (is_bool(from)) return select(u.m(0), is_int(to) ? b.bits(1) : b.c(1), b.bits(0)).id;
  const V x = u.v(0);
  if (is_bool(to)) {
    return is_int(from) ? int_compare(x, b.bits(0), kNe).id : compare(x, b.c(0), kNe).id;
  }
  if (is_int(from) && to == Dtype::kFloat32) {
    const auto function = from == Dtype::kInt32 ? from_int : from_unsigned;
    if (!is_half(result)) return function(x).id;
    return round_to(result, integers_to_odd(x, function)).id;
  }
  if (from == Dtype::kFloat32 && to == Dtype::kInt32) {
    const V inside = make(Op::kTruncate, x);
    const V capped = select(compare(x, b.c(0x1.fffffep30), kGt), b.bits(0x7fffffff), inside);
    return select(is_nan(x), b.bits(0), capped).id;
  }
  return kUnknown;
}

int same(const Use& u) { return u.in[0]; }

int bitcast(const Use& u) {
  if (u.app.in[0] == u.app.out) return u.in[0];
  const bool as_is = has_lanes(u.app.in[0]) && has_lanes(u.app.out) && !u.mask();
  return as_is && size_of(u.app.in[0]) == size_of(u.app.out) ? u.in[0] : kUnknown;
}

// The instructions treat counts from 32 on as the primitives do.
template <Op kBy>
int shift(const Use& u) {
  return u.floating() || u.mask() ? kUnknown : u.b.add(kBy, u.in[0], u.in[1]);
}

template <V (*kFunction)(V), bool kDouble = false>
int function(const Use& u) {
  if (!u.floating() || (u.b.wide() && !kDouble)) return kUnknown;
  return kFunction(u.v(0)).id;
}

int gelu(const Use& u) {
  if (u.b.wide() || !u.floating()) return kUnknown;
  return (u.app.params.get<GeluParams>().tanh ? gelu_tanh(u.v(0)) : gelu_erf(u.v(0))).id;
}

// What is exact needs no rounding where the result is a 16-bit float.
enum class Result : uint8_t { kRounded, kExact };
// Bools are masks, on which instructions for numbers make no sense: only rules that say so see any.
enum class Masks : uint8_t { kRefused, kTaken };

struct Entry {
  std::string_view name;
  Rule rule;
  Result result = Result::kRounded;
  Masks masks = Masks::kRefused;
};

constexpr Entry kRules[] = {
    {"abs", abs_of, Result::kExact, Masks::kTaken},
    {"adam_direction", adam_direction},
    {"add", arithmetic<Op::kAdd, Op::kIntAdd>},
    {"and", logical<Op::kAnd, Op::kMaskAnd>, Result::kRounded, Masks::kTaken},
    {"bitcast_convert_type", bitcast, Result::kExact, Masks::kTaken},
    {"ceil", rounded<kUp>, Result::kExact},
    {"clamp", clamp_of, Result::kExact},
    {"convert_element_type", convert, Result::kExact, Masks::kTaken},
    {"copy", same, Result::kExact, Masks::kTaken},
    {"cos", function<cos>},
    {"div", div},
    {"eq", comparison<kEq>, Result::kRounded, Masks::kTaken},
    {"erf", function<erf>},
    {"exp", function<exp, true>},
    {"expm1", function<expm1>},
    {"floor", rounded<kDown>, Result::kExact},
    {"ge", comparison<kGe>},
    {"gelu", gelu},
    {"gt", comparison<kGt>},
    {"integer_pow", integer_pow},
    {"is_finite", is_finite},
    {"le", comparison<kLe>},
    {"log", function<log, true>},
    {"log1p", function<log1p>},
    {"logistic", function<logistic, true>},
    {"lt", comparison<kLt>},
    {"max", extremum<Op::kMax, Op::kIntMax>, Result::kExact},
    {"min", extremum<Op::kMin, Op::kIntMin>, Result::kExact},
    {"mul", arithmetic<Op::kMul, Op::kIntMul>},
    {"ne", comparison<kNe>, Result::kRounded, Masks::kTaken},
    {"neg", neg, Result::kExact},
    {"not", not_of, Result::kRounded, Masks::kTaken},
    {"or", logical<Op::kOr, Op::kMaskOr>, Result::kRounded, Masks::kTaken},
    {"relu", relu, Result::kExact},
    {"round", rounded<kNearest>, Result::kExact},
    {"rsqrt", rsqrt},
    {"scaled_add", scaled_add},
    {"select", select_of, Result::kExact, Masks::kTaken},
    {"shift_left", shift<Op::kShiftLeftBy>},
    {"shift_right_arithmetic", shift<Op::kShiftArithmeticBy>},
    {"shift_right_logical", shift<Op::kShiftRightBy>},
    {"sign", sign, Result::kExact},
    {"silu", function<silu, true>},
    {"sin", function<sin>},
    {"softplus", function<softplus>},
    {"sqrt", sqrt_of},
    {"stop_gradient", same, Result::kExact, Masks::kTaken},
    {"sub", arithmetic<Op::kSub, Op::kIntSub>},
    {"tanh", function<tanh>},
    {"trunc", rounded<kTowardZero>, Result::kExact},
    {"xor", logical<Op::kXor, Op::kMaskXor>, Result::kRounded, Masks::kTaken},
};

}  // namespace

bool has_lanes(Dtype d) {
  return d == Dtype::kBool || d == Dtype::kInt32 || d == Dtype::kUint32 || d == Dtype::kFloat32 ||
         d == Dtype::kFloat64;
}

int lower(Builder& b, const Application& app, std::span<const int> in) {
  const auto known = [](Dtype d) { return has_lanes(d) || is_half(d); };
  if (!std::all_of(app.in.begin(), app.in.end(), known)) return kUnknown;
  if (!known(app.out) || app.in.empty()) return kUnknown;
  const auto* rule =
      std::lower_bound(std::begin(kRules), std::end(kRules), app.p.name,
                       [](const Entry& e, std::string_view n) { return e.name < n; });
  if (rule == std::end(kRules) || rule->name != app.p.name) return kUnknown;
  if (rule->masks == Masks::kRefused && std::any_of(app.in.begin(), app.in.end(), is_bool))
    return kUnknown;
  b.set_wide(app.in.back() == Dtype::kFloat64 || app.out == Dtype::kFloat64);
  const int made = rule->rule({b, app, in});
  if (made < 0 || !is_half(app.out) || rule->result == Result::kExact) return made;
  return round_to(app.out, b.v(made)).id;
}

}  // namespace spruce::cpu::x64
