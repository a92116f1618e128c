// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/half.h"

namespace spruce::cpu::x64 {
namespace {

constexpr uint32_t kUpperHalf = 0xffff0000;

V round_to_bf16(V x, Nans nans) {
  Builder& b = *x.b;
  // Half a unit more; where x was halfway, and only there, half a unit less one differs in the last
  // bit that stays: it is cleared.
  const V up = int_add(x, b.bits(0x8000)), down = int_add(x, b.bits(0x7fff)),
          above = b.bits(0xfffe0000u);
  constexpr int kAndOr = 0xe0;
  V y = b.v4() ? b.v(b.add(Op::kTernary, up.id, down.id, above.id, kAndOr)) : up & (down | above);
  if (nans == Nans::kAny) y = select(is_nan(x), x | b.bits(0x00400000), y);
  return y & b.bits(kUpperHalf);
}

}  // namespace

V round_to(Dtype half, V x, Nans nans) {
  return half == Dtype::kBfloat16 ? round_to_bf16(x, nans) : make(Op::kRoundF16, x);
}

V integers_to_odd(V x, V (*convert)(V)) {
  Builder& b = *x.b;
  const V nearest = convert(x), low = b.bits(0xff);
  const V sticky = int_add(x & low, low) & b.bits(0x100);
  const V odd = convert(and_not(low, x) | sticky);
  return select(compare(abs(nearest), b.c(0x1p24), kLt), nearest, odd);
}

int before_rounding(const Program& program, Dtype half, int id) {
  const Inst& inst = program.insts[static_cast<size_t>(id)];
  if (half == Dtype::kFloat16) return inst.op == Op::kRoundF16 ? inst.a : id;
  if (inst.op != Op::kAnd) return id;
  const Inst& mask = program.insts[static_cast<size_t>(inst.b)];
  const bool upper = mask.op == Op::kConst && program.constants[static_cast<size_t>(mask.index)] ==
                                                  Constant::uniform(kUpperHalf, false);
  return upper ? inst.a : id;
}

void drop_unused(Program& program) {
  std::vector<Inst>& insts = program.insts;
  std::vector<int> place(insts.size(), -1);
  for (size_t i = insts.size(); i-- > 0;) {
    if (place[i] < 0 && insts[i].has_value()) continue;
    place[i] = 0;
    for (const int v : insts[i].operands()) {
      if (v >= 0) place[static_cast<size_t>(v)] = 0;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < insts.size(); ++i) {
    if (place[i] < 0) continue;
    Inst inst = insts[i];
    for (int* v : {&inst.a, &inst.b, &inst.c, &inst.d}) {
      if (*v >= 0) *v = place[static_cast<size_t>(*v)];
    }
    place[i] = static_cast<int>(kept);
    insts[kept++] = inst;
  }
  insts.resize(kept);
}

}  // namespace spruce::cpu::x64
