// SPDX-License-Identifier: Apache-2.0
// Registers, homes and frames. The instructions themselves are in emit.cc.
#include "spruce/core/cpu/x64/emitter.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace spruce::cpu::x64 {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr int kFirstMask = 1, kMasks = 7;  // k1 to k6: k0 masks nothing, k7 is the tail

}  // namespace

Emitter::Emitter(const Program& program, IsaLevel level, int vector_bytes)
    : Xbyak::CodeGenerator(4096, Xbyak::AutoGrow, static_cast<PlainAllocator*>(this)),
      program_(program),
      level_(level),
      bytes_(vector_bytes),
      constant_pins_(program.constants.size(), -1) {}

Xbyak::Xmm Emitter::vec(int index, int bytes) const {
  const auto kind = bytes == 64   ? Xbyak::Operand::ZMM
                    : bytes == 32 ? Xbyak::Operand::YMM
                                  : Xbyak::Operand::XMM;
  return Xbyak::Xmm(kind, index);
}
Xbyak::Xmm Emitter::vec(int index) const { return vec(index, bytes_); }

Xbyak::Address Emitter::slot(int index) { return ptr[rsp + index * 64]; }
Xbyak::Address Emitter::constant(int index) { return ptr[rip + pool_ + index * 64]; }

int Emitter::pin() { return (v4() ? 32 : 16) - ++pinned_; }

void Emitter::load_pinned_constants() {
  for (size_t i = 0; i < constant_pins_.size(); ++i) {
    if (constant_pins_[i] >= 0) vmovups(vec(constant_pins_[i]), constant(static_cast<int>(i)));
  }
}

void Emitter::enter() {
  push(rbp);
  mov(rbp, rsp);
  for (const auto& r : {rbx, r12, r13, r14, r15}) push(r);
  frame_patches_.push_back(getSize());
  mov(eax, 0x7fffffff);
  sub(rsp, rax);
  and_(rsp, -64);
}

void Emitter::leave() {
  vzeroupper();
  lea(rsp, ptr[rbp - 40]);
  for (const auto& r : {r15, r14, r13, r12, rbx}) pop(r);
  pop(rbp);
  ret();
}

std::vector<uint8_t> Emitter::finish() {
  emit_calls();
  while (getSize() % 64 != 0) db(0);
  L(pool_);
  for (const Constant& c : program_.constants) {
    for (int copy = 0; copy < 2; ++copy) {
      for (const uint32_t word : c.words) dd(word);
    }
  }
  ready();
  std::vector<uint8_t> code(getCode(), getCode() + getSize());
  const uint32_t frame = static_cast<uint32_t>(slots_ + 1) * 64;
  for (const size_t at : frame_patches_) std::memcpy(code.data() + at + 1, &frame, sizeof frame);
  return code;
}

// --- values -----------------------------------------------------------------------------------

bool Emitter::in_mask_register(const Inst& inst) const {
  if (!v4()) return false;
  switch (inst.op) {
    case Op::kCompare:
    case Op::kIntCompare:
    case Op::kMaskAnd:
    case Op::kMaskOr:
    case Op::kMaskXor:
    case Op::kMaskNot:
      return true;
    case Op::kInput:
      return mask_input(inst);
    default:
      return false;
  }
}

bool Emitter::is_invariant(const Inst& inst) const {
  return inst.op == Op::kConst || (inst.op == Op::kInput && home_slot(inst) >= 0);
}

int Emitter::pinned_register(const Inst& inst) const {
  if (inst.op == Op::kConst) return constant_pins_[static_cast<size_t>(inst.index)];
  if (inst.op != Op::kInput) return -1;
  const int home = home_slot(inst);
  for (const auto& [slot, reg] : home_pins_) {
    if (slot == home) return reg;
  }
  return -1;
}

std::optional<Xbyak::Address> Emitter::home(int value) {
  const Inst& inst = (*block_)[static_cast<size_t>(value)];
  if (inst.op == Op::kConst) return constant(inst.index);
  if (is_invariant(inst)) return slot(home_slot(inst));
  const int spilled = where_[static_cast<size_t>(value)].slot;
  if (spilled >= 0) return slot(spilled);
  return std::nullopt;
}

bool Emitter::is_zero(int value) const {
  const Inst& inst = (*block_)[static_cast<size_t>(value)];
  return inst.op == Op::kConst && program_.constants[static_cast<size_t>(inst.index)].is_zero();
}

bool Emitter::last_use(int value) const { return next_[static_cast<size_t>(value)] == kNever; }

// Whether this is the last use of a value that has a register of its own.
bool Emitter::dies(int value) const {
  return last_use(value) && where_[static_cast<size_t>(value)].reg >= 0 &&
         pinned_register((*block_)[static_cast<size_t>(value)]) < 0;
}

// Gives the register of a value that dies to the result of instruction i.
void Emitter::become(int value, int i) {
  int& reg = where_[static_cast<size_t>(value)].reg;
  holder_[kVector][static_cast<size_t>(reg)] = i;
  where_[static_cast<size_t>(i)].reg = reg;
  reg = -1;
}

int Emitter::take(Class c) {
  const int first = c == kMask ? kFirstMask : 0, end = c == kMask ? kMasks : free_registers();
  auto& holder = holder_[c];
  int victim = -1, furthest = -1;
  for (int r = first; r < end; ++r) {
    if ((locked_[c] >> r & 1) != 0) continue;
    const int value = holder[static_cast<size_t>(r)];
    if (value < 0) return r;
    if (next_[static_cast<size_t>(value)] > furthest) {
      furthest = next_[static_cast<size_t>(value)];
      victim = r;
    }
  }
  if (victim < 0) throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  const int value = holder[static_cast<size_t>(victim)];
  if (!home(value)) {
    Where& w = where_[static_cast<size_t>(value)];
    w.slot = new_slot();
    if (c == kMask)
      kmovq(slot(w.slot), Xbyak::Opmask(victim));
    else
      vmovups(slot(w.slot), vec(victim));
  }
  where_[static_cast<size_t>(value)].reg = -1;
  holder[static_cast<size_t>(victim)] = -1;
  return victim;
}

int Emitter::fetch_index(int value) {
  const Inst& inst = (*block_)[static_cast<size_t>(value)];
  const int pinned = pinned_register(inst);
  if (pinned >= 0) return pinned;
  const Class c = in_mask_register(inst) ? kMask : kVector;
  Where& w = where_[static_cast<size_t>(value)];
  if (w.reg < 0) {
    const int r = take(c);
    w.reg = r;
    holder_[c][static_cast<size_t>(r)] = value;
    if (c == kMask)
      kmovq(Xbyak::Opmask(r), *home(value));
    else
      vmovups(vec(r), *home(value));
  }
  lock(c, w.reg);
  return w.reg;
}

Xbyak::Xmm Emitter::fetch(int value) { return vec(fetch_index(value)); }
Xbyak::Opmask Emitter::fetch_mask(int value) { return Xbyak::Opmask(fetch_index(value)); }

Source Emitter::source(int value) {
  const Inst& inst = (*block_)[static_cast<size_t>(value)];
  if (pinned_register(inst) < 0 && where_[static_cast<size_t>(value)].reg < 0)
    return {Xbyak::Xmm(), home(value)};
  return {fetch(value), std::nullopt};
}

void Emitter::release(int value) {
  Where& w = where_[static_cast<size_t>(value)];
  if (w.reg < 0) return;
  const Class c = in_mask_register((*block_)[static_cast<size_t>(value)]) ? kMask : kVector;
  holder_[c][static_cast<size_t>(w.reg)] = -1;
  locked_[c] &= ~(1u << w.reg);
  w.reg = -1;
}

void Emitter::release_operands(const Inst& inst) {
  for (const int v : inst.operands()) {
    if (v >= 0 && last_use(v)) release(v);
  }
}

Xbyak::Xmm Emitter::define(int value) {
  const int r = take(kVector);
  where_[static_cast<size_t>(value)].reg = r;
  holder_[kVector][static_cast<size_t>(r)] = value;
  lock(kVector, r);
  return vec(r);
}
Xbyak::Opmask Emitter::define_mask(int value) {
  const int r = take(kMask);
  where_[static_cast<size_t>(value)].reg = r;
  holder_[kMask][static_cast<size_t>(r)] = value;
  lock(kMask, r);
  return Xbyak::Opmask(r);
}

Xbyak::Xmm Emitter::temporary() {
  const int r = take(kVector);
  lock(kVector, r);
  return vec(r);
}
Xbyak::Opmask Emitter::temporary_mask() {
  const int r = take(kMask);
  lock(kMask, r);
  return Xbyak::Opmask(r);
}

void Emitter::release_all() {
  locked_ = {};
  for (auto& h : holder_) h.fill(-1);
}

// --- blocks -----------------------------------------------------------------------------------

int Emitter::pressure(const std::vector<Inst>& block) const {
  std::vector<int> last(block.size(), -1);
  for (size_t i = 0; i < block.size(); ++i) {
    for (const int v : block[i].operands()) {
      if (v >= 0) last[static_cast<size_t>(v)] = static_cast<int>(i);
    }
  }
  int live = 0, most = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const auto held = [&](int v) {
      const Inst& inst = block[static_cast<size_t>(v)];
      return !is_invariant(inst) && !in_mask_register(inst);
    };
    const auto operands = block[i].operands();
    most = std::max(most, live + 2);
    for (size_t k = 0; k < operands.size(); ++k) {
      const int v = operands[k];
      if (v < 0 || last[static_cast<size_t>(v)] != static_cast<int>(i) || !held(v)) continue;
      if (std::find(operands.begin(), operands.begin() + static_cast<long>(k), v) ==
          operands.begin() + static_cast<long>(k))
        --live;
    }
    if (block[i].has_value() && last[i] >= 0 && held(static_cast<int>(i))) ++live;
  }
  return most;
}

void Emitter::emit(const std::vector<Inst>& block) {
  block_ = &block;
  const size_t n = block.size();
  where_.assign(n, {});
  next_.assign(n, kNever);
  next_after_.assign(n, {kNever, kNever, kNever, kNever});
  release_all();
  for (size_t i = n; i-- > 0;) {
    const auto operands = block[i].operands();
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] >= 0) next_after_[i][k] = next_[static_cast<size_t>(operands[k])];
    }
    for (const int v : operands) {
      if (v >= 0) next_[static_cast<size_t>(v)] = static_cast<int>(i);
    }
  }
  for (size_t i = 0; i < n; ++i) step(static_cast<int>(i));
}

}  // namespace spruce::cpu::x64
