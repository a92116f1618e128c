// SPDX-License-Identifier: Apache-2.0
// Values that the code beside them cannot compute: rare ones, for which the library is called.
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/trig.h"
#include "spruce/core/cpu/x64/emitter.h"

namespace spruce::cpu::x64 {
namespace {

using Isa = math::Isa<true>;

SPRUCE_TARGET_V3 void sin_of_far(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = math::is_near<Isa>(x[i]) ? y[i] : math::sin<Isa>(x[i]);
}
SPRUCE_TARGET_V3 void cos_of_far(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = math::is_near<Isa>(x[i]) ? y[i] : math::cos<Isa>(x[i]);
}

}  // namespace

void Emitter::correct(const Inst& inst, int i) {
  const int mask = fetch_index(inst.a), x = fetch_index(inst.b);
  const Source from = source(inst.c);
  const Xbyak::Xmm to = define(i);
  vmovups(to, from.operand());
  if (v4()) {
    kortestw(Xbyak::Opmask(mask), Xbyak::Opmask(mask));
  } else {
    vmovmskps(edx, vec(mask));
    test(edx, edx);
  }
  Call& call = calls_.emplace_back();
  call.x = x;
  call.y = to.getIdx();
  call.by = static_cast<Correction>(inst.imm);
  jnz(call.from, T_NEAR);
  L(call.back);
  release_operands(inst);
}

void Emitter::emit_calls() {
  if (calls_.empty()) return;
  const int registers = v4() ? 32 : 16, first = slots_, masks = first + registers;
  const int numbers = masks + 1;
  slots_ = numbers + 2;
  const std::array<Xbyak::Reg64, 9> kept = {rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11};
  const auto number = [&](size_t k) { return ptr[rsp + numbers * 64 + static_cast<int>(k) * 8]; };
  const auto mask = [&](int k) { return ptr[rsp + masks * 64 + k * 8]; };
  for (Call& call : calls_) {
    L(call.from);
    for (int r = 0; r < registers; ++r) vmovups(slot(first + r), vec(r));
    for (size_t k = 0; k < kept.size(); ++k) mov(number(k), kept[k]);
    for (int k = 1; v4() && k < 8; ++k) kmovq(mask(k), Xbyak::Opmask(k));
    lea(rdi, slot(first + call.x));
    lea(rsi, slot(first + call.y));
    mov(edx, bytes() / 4);
    const auto function = call.by == Correction::kSin ? &sin_of_far : &cos_of_far;
    mov(rax, reinterpret_cast<uintptr_t>(function));
    vzeroupper();
    Xbyak::CodeGenerator::call(rax);
    for (int k = 1; v4() && k < 8; ++k) kmovq(Xbyak::Opmask(k), mask(k));
    for (size_t k = 0; k < kept.size(); ++k) mov(kept[k], number(k));
    for (int r = 0; r < registers; ++r) vmovups(vec(r), slot(first + r));
    jmp(call.back, T_NEAR);
  }
}

}  // namespace spruce::cpu::x64
