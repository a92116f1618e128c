// SPDX-License-Identifier: Apache-2.0
// Writes programs as expressions: `V y = fma(x, x, b.c(1))`.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/x64/few_values.h"
#include "spruce/core/cpu/x64/program.h"

namespace spruce::cpu::x64 {

class Builder;

/// A vector of floats or integers.
struct V {
  Builder* b;
  int id;
};
/// A mask.
struct M {
  Builder* b;
  int id;
};

class Builder {
 public:
  Builder(Program& program, IsaLevel level) : p_(program), level_(level) {}

  bool v4() const { return level_ == IsaLevel::kV4; }
  /// Whether what follows is about 64-bit lanes.
  bool wide() const { return wide_; }
  void set_wide(bool wide) { wide_ = wide; }

  int add(Op op, int a = -1, int b = -1, int c = -1, int imm = 0, int index = 0, int d = -1) {
    Inst inst{};
    inst.op = op;
    inst.imm = static_cast<uint8_t>(imm);
    inst.wide = wide_;
    inst.index = static_cast<int16_t>(index);
    inst.a = a;
    inst.b = b;
    inst.c = c;
    inst.d = d;
    p_.insts.push_back(inst);
    return static_cast<int>(p_.insts.size()) - 1;
  }
  /// The number of a call for kCall and kCorrect.
  int add_call(std::shared_ptr<const LaneCall> call) {
    p_.calls.push_back(std::move(call));
    return static_cast<int>(p_.calls.size()) - 1;
  }
  /// How much there is, and back to it: what was added since is of no use.
  size_t mark() const { return p_.insts.size(); }
  void rewind(size_t mark) {
    p_.insts.resize(mark);
    for (int& made : made_) made = made < static_cast<int>(mark) ? made : -1;
    few_.rewind(static_cast<int>(mark));
  }
  V v(int id) { return {this, id}; }
  M m(int id) { return {this, id}; }

  /// A floating constant.
  V c(double x) {
    return wide_ ? bits(std::bit_cast<uint64_t>(x))
                 : bits(std::bit_cast<uint32_t>(static_cast<float>(x)));
  }
  /// A constant of given bits.
  V bits(uint64_t bits) { return constant(Constant::uniform(bits, wide_)); }
  V constant(const Constant& c) {
    const auto found = std::find(p_.constants.begin(), p_.constants.end(), c);
    const size_t at = static_cast<size_t>(found - p_.constants.begin());
    if (found != p_.constants.end() && made_[at] >= 0) return v(made_[at]);
    if (found == p_.constants.end()) p_.constants.push_back(c);
    made_.resize(p_.constants.size(), -1);
    made_[at] = add(Op::kConst, -1, -1, -1, 0, static_cast<int>(at));
    return v(made_[at]);
  }
  /// The bits of all lanes, of 32 bits, of what is such a constant.
  std::optional<uint32_t> known(V x) const {
    const Inst& inst = p_.insts[static_cast<size_t>(x.id)];
    if (inst.op != Op::kConst || inst.wide) return {};
    const Constant& c = p_.constants[static_cast<size_t>(inst.index)];
    if (c != Constant::uniform(c.words[0], false)) return {};
    return c.words[0];
  }
  /// What instructions of 32 bits can be.
  FewValues& few() { return few_; }
  V sign_bit() { return bits(wide_ ? uint64_t{1} << 63 : uint64_t{1} << 31); }

 private:
  Program& p_;
  IsaLevel level_;
  bool wide_ = false;
  std::vector<int> made_;  // the instruction of each constant
  FewValues few_;
};

inline V make(Op op, V a, V b, int imm = 0) { return a.b->v(a.b->add(op, a.id, b.id, -1, imm)); }
inline V make(Op op, V a, int imm = 0) { return a.b->v(a.b->add(op, a.id, -1, -1, imm)); }

inline V operator+(V a, V b) { return make(Op::kAdd, a, b); }
inline V operator-(V a, V b) { return make(Op::kSub, a, b); }
inline V operator*(V a, V b) { return make(Op::kMul, a, b); }
inline V operator/(V a, V b) { return make(Op::kDiv, a, b); }
inline V fma(V a, V b, V c) { return a.b->v(a.b->add(Op::kFma, a.id, b.id, c.id)); }
inline V sqrt(V a) { return make(Op::kSqrt, a); }
inline V round(V a, RoundMode mode) { return make(Op::kRound, a, mode); }
inline V operator&(V a, V b) { return make(Op::kAnd, a, b); }
inline V operator|(V a, V b) { return make(Op::kOr, a, b); }
inline V operator^(V a, V b) { return make(Op::kXor, a, b); }
inline V and_not(V a, V b) { return make(Op::kAndNot, a, b); }
inline V int_add(V a, V b) { return make(Op::kIntAdd, a, b); }
inline V int_sub(V a, V b) { return make(Op::kIntSub, a, b); }
inline V shift_left(V a, int bits) { return make(Op::kShiftLeft, a, bits); }
inline V shift_right(V a, int bits) { return make(Op::kShiftRight, a, bits); }
inline V shift_arithmetic(V a, int bits) { return make(Op::kShiftArithmetic, a, bits); }
inline V from_int(V a) { return make(Op::kFromInt, a); }

inline M compare(V a, V b, Predicate p) {
  return a.b->m(a.b->add(Op::kCompare, a.id, b.id, -1, p));
}
inline M int_compare(V a, V b, Predicate p) {
  return a.b->m(a.b->add(Op::kIntCompare, a.id, b.id, -1, p));
}
inline V select(M m, V a, V b) { return a.b->v(a.b->add(Op::kSelect, m.id, a.id, b.id)); }

inline V abs(V x) { return and_not(x.b->sign_bit(), x); }
inline V negate(V x) { return x ^ x.b->sign_bit(); }
inline V copysign(V x, V sign) {
  const V bit = x.b->sign_bit();
  return and_not(bit, x) | (sign & bit);
}
inline M is_nan(V x) { return compare(x, x, kUnordered); }
/// `x < low ? low : x`, then `x > high ? high : x`: NaN stays.
inline V clamp(V x, V low, V high) { return make(Op::kMin, high, make(Op::kMax, low, x)); }

}  // namespace spruce::cpu::x64
