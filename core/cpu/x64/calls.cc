// SPDX-License-Identifier: Apache-2.0
// Calls out of the code: of what has no instructions, and of what is too rare for them.
#include "spruce/core/cpu/x64/emitter.h"
#include "spruce/core/cpu/x64/lane_call.h"

namespace spruce::cpu::x64 {

// Registers that hold something at this instruction.
Emitter::Call& Emitter::add_call(const Inst& inst, std::array<int, 3> operands, int to) {
  Call& call = calls_.emplace_back();
  call.operands = operands;
  call.to = to;
  call.function = program_.calls[static_cast<size_t>(inst.index)].get();
  call.lanes = bytes() / (inst.wide ? 8 : 4);
  const int free = free_registers(), registers = v4() ? 32 : 16;
  for (int r = 0; r < registers; ++r) {
    if (r >= free || r == to || holder_[kVector][static_cast<size_t>(r)] >= 0)
      call.saved |= 1u << r;
  }
  for (const int r : operands) {
    if (r >= 0) call.saved |= 1u << r;
  }
  return call;
}

void Emitter::call(const Inst& inst, int i) {
  std::array<int, 3> operands = {-1, -1, -1};
  const auto values = inst.operands();
  for (size_t k = 0; k < 3; ++k) {
    if (values[k] >= 0) operands[k] = fetch_index(values[k]);
  }
  const Xbyak::Xmm to = define(i);
  Call& call = add_call(inst, operands, to.getIdx());
  jmp(call.from, T_NEAR);
  L(call.back);
  release_operands(inst);
}

// The operands are a mask, what the function is of, and what is right where the mask is not set.
void Emitter::correct(const Inst& inst, int i) {
  const int mask = fetch_index(inst.a), x = fetch_index(inst.b),
            y = inst.d < 0 ? -1 : fetch_index(inst.d);
  const Source from = source(inst.c);
  const Xbyak::Xmm to = define(i);
  vmovups(to, from.operand());
  if (v4()) {
    kortestw(Xbyak::Opmask(mask), Xbyak::Opmask(mask));
  } else {
    vmovmskps(edx, vec(mask));
    test(edx, edx);
  }
  Call& call = add_call(inst, {x, y, -1}, to.getIdx());
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
    const auto each_saved = [&](const auto& f) {
      for (int r = 0; r < registers; ++r) {
        if ((call.saved >> r & 1) != 0) f(r);
      }
    };
    L(call.from);
    each_saved([&](int r) { vmovups(slot(first + r), vec(r)); });
    for (size_t k = 0; k < kept.size(); ++k) mov(number(k), kept[k]);
    for (int k = 1; v4() && k < 8; ++k) kmovq(mask(k), Xbyak::Opmask(k));
    const std::array<Xbyak::Reg64, 3> arguments = {rsi, rdx, rcx};
    for (size_t k = 0; k < 3; ++k) {
      if (call.operands[k] >= 0) lea(arguments[k], slot(first + call.operands[k]));
    }
    lea(r8, slot(first + call.to));
    mov(r9d, call.lanes);
    mov(rdi, reinterpret_cast<uintptr_t>(call.function));
    mov(rax, reinterpret_cast<uintptr_t>(&LaneCall::run));
    vzeroupper();
    Xbyak::CodeGenerator::call(rax);
    for (int k = 1; v4() && k < 8; ++k) kmovq(Xbyak::Opmask(k), mask(k));
    for (size_t k = 0; k < kept.size(); ++k) mov(kept[k], number(k));
    each_saved([&](int r) { vmovups(vec(r), slot(first + r)); });
    jmp(call.back, T_NEAR);
  }
}

}  // namespace spruce::cpu::x64
