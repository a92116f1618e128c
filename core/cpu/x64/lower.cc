// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/lower.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "spruce/core/cpu/x64/half.h"
#include "spruce/core/cpu/x64/integers.h"
#include "spruce/core/cpu/x64/lane_call.h"
#include "spruce/core/scalar/expression.h"

namespace spruce::cpu::x64 {
namespace {

using scalar::Node;
using ScalarOp = scalar::Op;

constexpr int kUnknown = -1;

bool is_int(Dtype d) { return d == Dtype::kInt32 || d == Dtype::kUint32; }
// Integers within of programs of f64, on which there is less: not in arrays.
bool is_wide_int(Dtype d) { return d == Dtype::kInt64 || d == Dtype::kUint64; }
bool is_wide(Dtype d) { return size_of(d) == 8; }

Predicate predicate(ScalarOp op) {
  switch (op) {
    case ScalarOp::kEqual:
      return kEq;
    case ScalarOp::kNotEqual:
      return kNe;
    case ScalarOp::kLess:
      return kLt;
    case ScalarOp::kLessEqual:
      return kLe;
    case ScalarOp::kGreater:
      return kGt;
    default:
      return kGe;
  }
}
bool is_comparison(ScalarOp op) { return op >= ScalarOp::kEqual && op <= ScalarOp::kGreaterEqual; }
// True where p is not: of floats also where one is NaN.
Predicate inverse(Predicate p, bool floating) {
  switch (p) {
    case kEq:
      return kNe;
    case kNe:
      return kEq;
    case kLt:
      return floating ? kNotLt : kGe;
    case kLe:
      return floating ? kNotLe : kGt;
    case kGt:
      return floating ? kNotGt : kLe;
    default:
      return floating ? kNotGe : kLt;
  }
}

// y 2^n, rounded once, for a whole number n.
V scale(V y, V n) {
  Builder& b = *y.b;
  if (b.v4()) return make(Op::kScale, y, n);
  if (b.wide()) {
    const double magic = 0x1.8p52;
    const auto power = [&](V k) {
      const uint64_t bias = 1023 - std::bit_cast<uint64_t>(magic);
      return shift_left(int_add(k + b.c(magic), b.bits(bias)), 52);
    };
    const V half = round(n * b.c(0.5), kDown);
    return y * power(half) * power(n - half);
  }
  const V k = make(Op::kTruncate, n), half = shift_arithmetic(k, 1);
  const auto power = [&](V e) { return shift_left(int_add(e, b.bits(127)), 23); };
  return y * power(half) * power(int_sub(k, half));
}

// The nodes of one primitive as instructions.
class Nodes {
 public:
  Nodes(Builder& b, const scalar::Program& program, std::span<const int> in)
      : b_(b),
        p_(program),
        in_(in),
        made_(program.nodes().size(), kUnknown),
        inverted_(program.nodes().size(), kUnknown) {}

  /// The instruction of a node, or -1. Lanes are of 64 bits if `wide`.
  int lower(int result, bool wide) {
    std::vector<bool> needed(made_.size(), false);
    needed[static_cast<size_t>(result)] = true;
    for (int i = result; i >= 0; --i) {
      if (!needed[static_cast<size_t>(i)]) continue;
      if (p_.dtype(i) != Dtype::kBool && !is_half(p_.dtype(i)) && is_wide(p_.dtype(i)) != wide)
        return kUnknown;
      for (const int v : used(p_[i])) {
        if (v >= 0) needed[static_cast<size_t>(v)] = true;
      }
    }
    for (int i = 0; i <= result; ++i) {
      if (!needed[static_cast<size_t>(i)]) continue;
      b_.set_wide(wide);
      made_[static_cast<size_t>(i)] = node(p_[i]);
      if (made_[static_cast<size_t>(i)] < 0) return kUnknown;
    }
    return made(result);
  }

  /// The mask of elements for which the result stands for nothing, or -1.
  int unlikely() const { return unlikely_; }

 private:
  int made(int value) const { return made_[static_cast<size_t>(value)]; }
  V v(int value) { return b_.v(made(value)); }
  M m(int value) { return b_.m(made(value)); }
  const Node& of(int value) const { return p_[value]; }

  // What a node is made from: a comparison that is negated is another one, for example.
  std::array<int, 3> used(const Node& n) const {
    if (n.op == ScalarOp::kUnlikely) return {n.in[0], -1, n.in[2]};
    if (n.op == ScalarOp::kNot && is_comparison(of(n.in[0]).op))
      return {of(n.in[0]).in[0], of(n.in[0]).in[1], -1};
    if (negates_magnitude(n)) return {of(n.in[0]).in[0], -1, -1};
    return n.in;
  }
  bool of_bytes(const Node& n) const {
    return std::any_of(n.in.begin(), n.in.end(),
                       [&](int v) { return v >= 0 && is_byte(p_.dtype(v)); });
  }
  bool negates_magnitude(const Node& n) const {
    return n.op == ScalarOp::kNeg && is_floating(n.dtype) && of(n.in[0]).op == ScalarOp::kAbs;
  }

  int node(const Node& n) {
    if (is_half(n.dtype) && n.op != ScalarOp::kInput && n.op != ScalarOp::kConvert &&
        n.op != ScalarOp::kSelect)
      return kUnknown;
    if (n.op != ScalarOp::kInput && n.op != ScalarOp::kConvert && of_bytes(n)) return kUnknown;
    switch (n.op) {
      case ScalarOp::kConstant:
        return is_bool(n.dtype) ? kUnknown : b_.bits(n.bits).id;
      case ScalarOp::kInput:
        return in_[n.bits];
      case ScalarOp::kSelect:
        return select_of(n);
      case ScalarOp::kUnlikely:
        return unlikely_of(n);
      case ScalarOp::kConvert:
        return convert(n);
      case ScalarOp::kBitcast: {
        const Dtype from = p_.dtype(n.in[0]);
        const bool as_is = !is_bool(from) && !is_half(from) && size_of(from) == size_of(n.dtype);
        return as_is ? made(n.in[0]) : kUnknown;
      }
      case ScalarOp::kCall:
        return kUnknown;
      case ScalarOp::kNot:
        if (!is_bool(n.dtype))
          return (v(n.in[0]) ^ b_.bits(~uint64_t{0} >> (b_.wide() ? 0 : 32))).id;
        return inverted(n.in[0]);
      default:
        break;
    }
    const Dtype d = p_.dtype(n.in[0]);
    if (is_comparison(n.op)) return comparison(n, predicate(n.op));
    if (is_bool(d)) return of_masks(n);
    return is_floating(d) ? of_floats(n) : of_integers(n);
  }

  int of_floats(const Node& n) {
    const auto x = [&](size_t i) { return v(n.in[i]); };
    switch (n.op) {
      case ScalarOp::kAdd:
        return noted(n.op, x(0), x(1), x(0) + x(1));
      case ScalarOp::kSub:
        return noted(n.op, x(0), x(1), x(0) - x(1));
      case ScalarOp::kMul:
        return noted(n.op, x(0), x(1), x(0) * x(1));
      case ScalarOp::kDiv:
        return noted(n.op, x(0), x(1), quotient(x(0), x(1)));
      case ScalarOp::kFma:
        return fma(x(0), x(1), x(2)).id;
      case ScalarOp::kScale:
        return scale(x(0), x(1)).id;
      case ScalarOp::kNeg:
        if (negates_magnitude(n)) return (v(of(n.in[0]).in[0]) | b_.sign_bit()).id;
        return negate(x(0)).id;
      case ScalarOp::kAbs:
        return abs(x(0)).id;
      case ScalarOp::kCopysign:
        return copysign(x(0), x(1)).id;
      case ScalarOp::kSqrt:
        return sqrt(x(0)).id;
      case ScalarOp::kFloor:
        return round(x(0), kDown).id;
      case ScalarOp::kCeil:
        return round(x(0), kUp).id;
      case ScalarOp::kRound:
        return round(x(0), kNearest).id;
      case ScalarOp::kTrunc:
        return round(x(0), kTowardZero).id;
      case ScalarOp::kMin:
        return make(Op::kMin, x(0), x(1)).id;
      case ScalarOp::kMax:
        return make(Op::kMax, x(0), x(1)).id;
      default:
        return kUnknown;
    }
  }

  int noted(ScalarOp op, V a, V b, V result) {
    if (!b_.wide()) b_.few().set_result(op, a.id, b.id, result.id);
    return result.id;
  }

  // Divisions take as long as ten products.
  V quotient(V a, V b) {
    const std::optional<float> by =
        b_.wide() ? std::nullopt : b_.few().divisor_by_product(a.id, b.id);
    if (!by) return a / b;
    const V reciprocal = b_.c(1.0f / *by), near = a * reciprocal;
    return fma(fma(near, b_.c(-*by), a), reciprocal, near);
  }

  int of_integers(const Node& n) {
    const V x = v(n.in[0]);
    const bool narrow = is_int(n.dtype);
    if (!narrow && !is_wide_int(n.dtype)) return kUnknown;
    switch (n.op) {
      case ScalarOp::kAdd:
        return int_add(x, v(n.in[1])).id;
      case ScalarOp::kSub:
        return int_sub(x, v(n.in[1])).id;
      case ScalarOp::kMul:
        return narrow ? make(Op::kIntMul, x, v(n.in[1])).id : kUnknown;
      case ScalarOp::kDiv:
      case ScalarOp::kRem:
        return narrow ? division(n.dtype, x, v(n.in[1]), n.op == ScalarOp::kRem).id : kUnknown;
      case ScalarOp::kNeg:
        return int_sub(b_.bits(0), x).id;
      case ScalarOp::kAbs:
        return narrow ? make(Op::kIntMax, x, int_sub(b_.bits(0), x)).id : kUnknown;
      case ScalarOp::kMin:
      case ScalarOp::kMax: {
        const bool largest = n.op == ScalarOp::kMax;
        if (n.dtype == Dtype::kInt32)
          return make(largest ? Op::kIntMax : Op::kIntMin, x, v(n.in[1])).id;
        const int chosen = comparison(n, largest ? kGt : kLt);
        return select(b_.m(chosen), x, v(n.in[1])).id;
      }
      case ScalarOp::kAnd:
        return (x & v(n.in[1])).id;
      case ScalarOp::kOr:
        return (x | v(n.in[1])).id;
      case ScalarOp::kXor:
        return (x ^ v(n.in[1])).id;
      case ScalarOp::kShiftLeft:
      case ScalarOp::kShiftRight:
        return shift(n, x);
      default:
        return kUnknown;
    }
  }

  int shift(const Node& n, V x) {
    const bool left = n.op == ScalarOp::kShiftLeft;
    const bool arithmetic = !left && is_signed_integer(n.dtype);
    const Node& by = of(n.in[1]);
    if (by.op == ScalarOp::kConstant && by.bits < 8 * static_cast<uint64_t>(size_of(n.dtype))) {
      const int bits = static_cast<int>(by.bits);
      if (left) return shift_left(x, bits).id;
      if (!arithmetic) return shift_right(x, bits).id;
      if (!b_.wide()) return shift_arithmetic(x, bits).id;
      // Of 64 bits there is no arithmetic shift before AVX-512: shift the biased number.
      const uint64_t bias = uint64_t{1} << 63;
      return int_sub(shift_right(int_add(x, b_.bits(bias)), bits), b_.bits(bias >> bits)).id;
    }
    if (b_.wide()) return kUnknown;
    // The instructions treat counts from 32 on as the program does.
    return make(left         ? Op::kShiftLeftBy
                : arithmetic ? Op::kShiftArithmeticBy
                             : Op::kShiftRightBy,
                x, v(n.in[1]))
        .id;
  }

  int of_masks(const Node& n) {
    const int a = made(n.in[0]), c = n.in[1] < 0 ? -1 : made(n.in[1]);
    switch (n.op) {
      case ScalarOp::kAnd:
      case ScalarOp::kMin:
        return b_.add(Op::kMaskAnd, a, c);
      case ScalarOp::kOr:
      case ScalarOp::kMax:
        return b_.add(Op::kMaskOr, a, c);
      case ScalarOp::kXor:
        return b_.add(Op::kMaskXor, a, c);
      default:
        return kUnknown;
    }
  }

  int comparison(const Node& n, Predicate p) {
    const Dtype d = p_.dtype(n.in[0]);
    if (is_bool(d)) {
      const int a = made(n.in[0]), c = made(n.in[1]);
      const auto only = [&](int yes, int no) {
        return b_.add(Op::kMaskAnd, yes, b_.add(Op::kMaskNot, no));
      };
      switch (p) {
        case kNe:
          return b_.add(Op::kMaskXor, a, c);
        case kEq:
          return b_.add(Op::kMaskNot, b_.add(Op::kMaskXor, a, c));
        case kGt:
          return only(a, c);
        case kLt:
          return only(c, a);
        case kLe:
          return b_.add(Op::kMaskNot, only(a, c));
        default:
          return b_.add(Op::kMaskNot, only(c, a));
      }
    }
    V x = v(n.in[0]), y = v(n.in[1]);
    if (is_floating(d)) return compare(x, y, p).id;
    if (is_unsigned_integer(d) && p != kEq && p != kNe)
      x = x ^ b_.sign_bit(), y = y ^ b_.sign_bit();
    return int_compare(x, y, p).id;
  }

  // Where a mask is not set.
  int inverted(int value) {
    int& known = inverted_[static_cast<size_t>(value)];
    if (known >= 0) return known;
    const Node& n = of(value);
    if (is_comparison(n.op) && !is_bool(p_.dtype(n.in[0])))
      return known = comparison(n, inverse(predicate(n.op), is_floating(p_.dtype(n.in[0]))));
    return known = b_.add(Op::kMaskNot, made(value));
  }

  bool is_zero(int value) const {
    return of(value).op == ScalarOp::kConstant && of(value).bits == 0;
  }

  int select_of(const Node& n) {
    if (is_bool(n.dtype)) {
      const int yes = b_.add(Op::kMaskAnd, made(n.in[0]), made(n.in[1]));
      const int no = b_.add(Op::kMaskAnd, b_.add(Op::kMaskNot, made(n.in[0])), made(n.in[2]));
      return b_.add(Op::kMaskOr, yes, no);
    }
    // Zero is what is left out where it comes last.
    if (is_zero(n.in[1])) return select(b_.m(inverted(n.in[0])), v(n.in[2]), v(n.in[1])).id;
    return select(m(n.in[0]), v(n.in[1]), v(n.in[2])).id;
  }

  int unlikely_of(const Node& n) {
    const int mask = made(n.in[0]);
    if (unlikely_ < 0)
      unlikely_ = mask;
    else if (unlikely_ != mask)
      unlikely_ = b_.add(Op::kMaskOr, unlikely_, mask);
    return made(n.in[2]);
  }

  // Whether a float is a number of the 16-bit dtype already.
  bool fits(int value, Dtype half) const {
    const Node& n = of(value);
    switch (n.op) {
      case ScalarOp::kConvert:
        return p_.dtype(n.in[0]) == half || is_bool(p_.dtype(n.in[0]));
      case ScalarOp::kConstant: {
        const float x = std::bit_cast<float>(static_cast<uint32_t>(n.bits));
        const float y = half == Dtype::kFloat16 ? float{Float16(x)} : float{Bfloat16(x)};
        return std::bit_cast<uint32_t>(y) == n.bits;
      }
      case ScalarOp::kNeg:
      case ScalarOp::kAbs:
      case ScalarOp::kFloor:
      case ScalarOp::kCeil:
      case ScalarOp::kRound:
      case ScalarOp::kTrunc:
      case ScalarOp::kCopysign:
        return fits(n.in[0], half);
      case ScalarOp::kMin:
      case ScalarOp::kMax:
        return fits(n.in[0], half) && fits(n.in[1], half);
      case ScalarOp::kSelect:
        return fits(n.in[1], half) && fits(n.in[2], half);
      default:
        return false;
    }
  }

  int to_byte(const Node& n) {
    const Dtype from = p_.dtype(n.in[0]);
    if (from == n.dtype) return made(n.in[0]);
    if (is_bool(from)) return select(m(n.in[0]), b_.bits(1), b_.bits(0)).id;
    const V x = v(n.in[0]);
    if (is_byte(from) || is_int(from)) return wrapped_to_byte(n.dtype, x).id;
    return from == Dtype::kFloat32 || is_half(from) ? saturated_to_byte(n.dtype, x).id : kUnknown;
  }

  // A 16-bit float is held as f32, a byte as i32.
  int convert(const Node& n) {
    if (is_byte(n.dtype)) return to_byte(n);
    const auto held = [](Dtype d) {
      return is_half(d) ? Dtype::kFloat32 : is_byte(d) ? Dtype::kInt32 : d;
    };
    const Dtype from = held(p_.dtype(n.in[0])), to = held(n.dtype);
    if (from == to) {
      if (!is_half(n.dtype) || fits(n.in[0], n.dtype)) return made(n.in[0]);
      const bool computed = of(n.in[0]).op != ScalarOp::kInput;
      return round_to(n.dtype, v(n.in[0]), computed ? Nans::kComputed : Nans::kAny).id;
    }
    if (is_int(from) && is_int(to)) return made(n.in[0]);
    if (is_bool(from))
      return select(m(n.in[0]), is_floating(to) ? b_.c(1) : b_.bits(1), b_.bits(0)).id;
    const V x = v(n.in[0]);
    if (is_bool(to)) {
      return is_floating(from) ? compare(x, b_.c(0), kNe).id : int_compare(x, b_.bits(0), kNe).id;
    }
    if (is_int(from) && to == Dtype::kFloat32) {
      const auto function = from == Dtype::kInt32 ? from_int : from_unsigned;
      if (!is_half(n.dtype)) {
        const int made = function(x).id;
        if (is_byte(p_.dtype(n.in[0]))) b_.few().set_byte(made, p_.dtype(n.in[0]));
        return made;
      }
      return round_to(n.dtype, integers_to_odd(x, function)).id;
    }
    if (from == Dtype::kFloat32 && to == Dtype::kInt32) return saturated(x).id;
    return kUnknown;
  }

  Builder& b_;
  const scalar::Program& p_;
  std::span<const int> in_;
  std::vector<int> made_, inverted_;  // of each node
  int unlikely_ = -1;
};

// Lanes of all operands and of the result are numbers of one width.
bool can_call(const Application& app) {
  const bool wide = is_wide(app.out);
  const auto fits = [&](Dtype d) { return !is_bool(d) && !is_byte(d) && is_wide(d) == wide; };
  return app.p.cpu != nullptr && app.in.size() <= 3 && fits(app.out) &&
         std::all_of(app.in.begin(), app.in.end(), fits);
}

int add_call(Builder& b, const Application& app, Op op, std::array<int, 4> operands) {
  b.set_wide(is_wide(app.out));
  const int index =
      b.add_call(std::make_shared<const LaneCall>(app.p, app.params, app.in, app.out));
  return b.add(op, operands[0], operands[1], operands[2], 0, index, operands[3]);
}

}  // namespace

bool is_byte(Dtype d) { return d == Dtype::kInt8 || d == Dtype::kUint8; }

bool has_lanes(Dtype d) {
  return d == Dtype::kBool || d == Dtype::kInt32 || d == Dtype::kUint32 || d == Dtype::kFloat32 ||
         d == Dtype::kFloat64;
}

int lower(Builder& b, const Application& app, std::span<const int> in) {
  const auto known = [](Dtype d) { return has_lanes(d) || is_half(d); };
  if (!std::all_of(app.in.begin(), app.in.end(), [&](Dtype d) { return known(d) || is_byte(d); }))
    return kUnknown;
  if (!(known(app.out) || is_byte(app.out)) || app.in.empty() || app.p.scalar == nullptr)
    return kUnknown;
  scalar::Program program;
  std::vector<int> values;
  for (const Dtype d : app.in) values.push_back(program.input(d, static_cast<int>(values.size())));
  const int result = app.p.scalar({program, values, app.out, app.params});
  const bool wide = std::any_of(app.in.begin(), app.in.end(), is_wide) || is_wide(app.out);
  const size_t mark = b.mark();
  Nodes nodes(b, program, in);
  const int made = nodes.lower(result, wide);
  if (made >= 0 && nodes.unlikely() < 0) return made;
  if (!can_call(app)) return kUnknown;
  if (made >= 0 && in.size() <= 2) {
    const int second = in.size() == 2 ? in[1] : -1;
    return add_call(b, app, Op::kCorrect, {nodes.unlikely(), in[0], made, second});
  }
  b.rewind(mark);
  std::array<int, 4> operands = {-1, -1, -1, -1};
  std::copy(in.begin(), in.end(), operands.begin());
  return add_call(b, app, Op::kCall, operands);
}

}  // namespace spruce::cpu::x64
