// SPDX-License-Identifier: Apache-2.0
// Registers: rdi and rsi hold the arrays of pointers, rax the turns that are left, rcx and rdx are
// free for a moment; rbx and r8 to r15 hold pointers.
#include "spruce/core/cpu/x64/tiny_emitter.h"

#include <algorithm>

namespace spruce::cpu::x64 {
namespace {

constexpr int kPointerRegisters[] = {3, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

TinyEmitter::TinyEmitter(const TinyProgram& program, const fusion::TinyLoop* loop)
    : Emitter(program.program, IsaLevel::kV3, 32), program_(program), loop_(loop) {
  for (const TinyLoad& l : program.loads)
    homes_.push_back(invariant(l.input) || carried(l.input) ? new_slot() : -1);
}

int TinyEmitter::home_slot(const Inst& inst) const {
  const size_t load = static_cast<size_t>(inst.index);
  return invariant(program_.loads[load].input) ? homes_[load] : -1;
}

std::vector<uint8_t> TinyEmitter::generate() {
  assign_pointers();
  enter();
  mov(rax, rdx);
  fill_homes();
  set_pointers();
  if (loop_ == nullptr) {
    emit(program_.program.insts);
  } else {
    Xbyak::Label turn, done;
    test(rax, rax);
    jz(done, T_NEAR);
    L(turn);
    emit(program_.program.insts);
    advance_pointers();
    dec(rax);
    jnz(turn, T_NEAR);
    L(done);
    write_carry();
  }
  leave();
  while (getSize() % 64 != 0) db(0);
  L(mask_table_);
  for (int i = 0; i < 8; ++i) dq(i < 4 ? ~uint64_t{0} : 0);
  return finish();
}

// --- pointers ---------------------------------------------------------------------------------

// Only what is read and written in the loop itself needs one.
void TinyEmitter::assign_pointers() {
  size_t next = 0;
  const auto assign = [&](bool wanted) {
    const bool has = wanted && next < std::size(kPointerRegisters);
    registers_.push_back(has ? kPointerRegisters[next++] : -1);
    pointer_slots_.push_back(wanted && !has ? new_slot() : -1);
  };
  for (size_t i = 0; i < program_.inputs.size(); ++i)
    assign(!invariant(static_cast<int>(i)) && !carried(static_cast<int>(i)));
  for (size_t k = 0; k < program_.outputs.size(); ++k)
    assign(loop_ == nullptr || sliced_output(static_cast<int>(k)));
}

void TinyEmitter::set_pointers() {
  const size_t inputs = program_.inputs.size();
  for (size_t i = 0; i < registers_.size(); ++i) {
    if (registers_[i] < 0 && pointer_slots_[i] < 0) continue;
    const bool output = i >= inputs;
    const size_t at = output ? i - inputs : i;
    const Xbyak::Reg64 to = registers_[i] >= 0 ? Xbyak::Reg64(registers_[i]) : rdx;
    mov(to, ptr[(output ? rsi : rdi) + static_cast<int>(at) * 8]);
    if (loop_ != nullptr && loop_->reverse) {
      // The last slice first.
      lea(rcx, ptr[rax - 1]);
      imul(rcx, rcx,
           static_cast<int>(output ? program_.output_bytes[at] : program_.input_bytes[at]));
      add(to, rcx);
    }
    if (registers_[i] < 0) mov(ptr[rsp + pointer_slots_[i] * 64], to);
  }
}

void TinyEmitter::advance_pointers() {
  const size_t inputs = program_.inputs.size();
  for (size_t i = 0; i < registers_.size(); ++i) {
    if (registers_[i] < 0 && pointer_slots_[i] < 0) continue;
    int bytes =
        static_cast<int>(i >= inputs ? program_.output_bytes[i - inputs] : program_.input_bytes[i]);
    if (loop_->reverse) bytes = -bytes;
    if (registers_[i] >= 0)
      add(Xbyak::Reg64(registers_[i]), bytes);
    else
      add(qword[rsp + pointer_slots_[i] * 64], bytes);
  }
}

Xbyak::Reg64 TinyEmitter::base(size_t array) {
  if (registers_[array] >= 0) return Xbyak::Reg64(registers_[array]);
  mov(rdx, ptr[rsp + pointer_slots_[array] * 64]);
  return rdx;
}

// --- inputs -----------------------------------------------------------------------------------

void TinyEmitter::load_one(Dtype dtype, const Xbyak::Address& from, const Xbyak::Xmm& to) {
  const Xbyak::Ymm y(to.getIdx());
  if (is_bool(dtype)) {
    const Xbyak::Ymm zero(temporary().getIdx());
    vpxor(zero, zero, zero);
    vpbroadcastb(y, from);
    vpcmpgtb(y, y, zero);
  } else if (dtype == Dtype::kFloat64) {
    vbroadcastsd(y, from);
  } else {
    vbroadcastss(y, from);
  }
}

void TinyEmitter::lane_mask(const Xbyak::Xmm& to, int count) {
  lea(rcx, ptr[rip + mask_table_]);
  vmovups(to, ptr[rcx + 32 - count * element_bytes()]);
}

void TinyEmitter::load(const Inst& inst, const Xbyak::Operand& to) {
  const TinyLoad& l = program_.loads[static_cast<size_t>(inst.index)];
  const int home = homes_[static_cast<size_t>(inst.index)], r = to.getIdx();
  if (home >= 0) return vmovups(vec(r), slot(home));
  const Dtype dtype = program_.inputs[static_cast<size_t>(l.input)];
  const int size = static_cast<int>(size_of(dtype)), count = static_cast<int>(l.elements.size());
  const Xbyak::Address from = ptr[base(static_cast<size_t>(l.input)) + l.elements[0] * size];
  if (count == 1) return load_one(dtype, from, vec(r));
  const int bytes = count * size;
  if (bytes == 32 || bytes == 16) return vmovups(vec(r, bytes), from);
  lane_mask(vec(r), count);
  if (size == 8)
    vmaskmovpd(vec(r), vec(r), from);
  else
    vmaskmovps(vec(r), vec(r), from);
}

void TinyEmitter::fill_homes() {
  release_all();
  for (size_t l = 0; l < homes_.size(); ++l) {
    if (homes_[l] < 0) continue;
    const TinyLoad& load = program_.loads[l];
    const Dtype dtype = program_.inputs[static_cast<size_t>(load.input)];
    const int size = static_cast<int>(size_of(dtype));
    mov(rdx, ptr[rdi + load.input * 8]);
    if (load.elements.size() == 1) {
      release_all();
      load_one(dtype, ptr[rdx + load.elements[0] * size], vec(hold(0)));
      vmovups(slot(homes_[l]), vec(0));
      continue;
    }
    // Lanes that are not used get a value too: what is left there could be slow to compute with.
    const size_t lanes = static_cast<size_t>(32 / size);
    for (size_t i = 0; i < lanes; ++i) {
      const int element = load.elements[i < load.elements.size() ? i : 0];
      const Xbyak::Reg to = size == 8 ? Xbyak::Reg(rcx) : Xbyak::Reg(ecx);
      mov(to, ptr[rdx + element * size]);
      mov(ptr[rsp + homes_[l] * 64 + static_cast<int>(i) * size], to);
    }
  }
}

// --- outputs ----------------------------------------------------------------------------------

void TinyEmitter::store(const Inst& inst, const Xbyak::Xmm& value) {
  const TinyStore& s = program_.stores[static_cast<size_t>(inst.index)];
  if (s.output < 0) return vmovups(slot(homes_[static_cast<size_t>(s.load)]), value);
  const Dtype dtype = program_.outputs[static_cast<size_t>(s.output)];
  const int size = static_cast<int>(size_of(dtype)), r = value.getIdx();
  const size_t array = program_.inputs.size() + static_cast<size_t>(s.output);
  const Xbyak::Reg64 to = base(array);
  const int at = s.element * size;
  if (is_bool(dtype)) {
    const Xbyak::Xmm x = vec(temporary().getIdx(), 16);
    vpabsb(x, vec(r, 16));
    return vpextrb(byte[to + at], x, 0);
  }
  const int bytes = s.count * size;
  if (bytes == 32 || bytes == 16) return vmovups(ptr[to + at], vec(r, bytes));
  if (bytes == 8) return vmovsd(qword[to + at], vec(r, 16));
  if (bytes == 4) return vmovss(dword[to + at], vec(r, 16));
  const Xbyak::Xmm mask = temporary();
  lane_mask(mask, s.count);
  if (size == 8)
    vmaskmovpd(ptr[to + at], mask, value);
  else
    vmaskmovps(ptr[to + at], mask, value);
}

void TinyEmitter::write_carry() {
  for (int k = 0; k < static_cast<int>(loop_->carry); ++k) {
    const int input = static_cast<int>(loop_->consts) + k;
    const Dtype dtype = program_.inputs[static_cast<size_t>(input)];
    const int size = static_cast<int>(size_of(dtype));
    const int count = static_cast<int>(program_.input_bytes[static_cast<size_t>(input)]) / size;
    std::vector<bool> written(static_cast<size_t>(count), false);
    mov(rdx, ptr[rsi + k * 8]);
    for (size_t l = 0; l < homes_.size(); ++l) {
      const TinyLoad& load = program_.loads[l];
      if (load.input != input) continue;
      for (size_t i = 0; i < load.elements.size(); ++i) {
        const int e = load.elements[i];
        if (written[static_cast<size_t>(e)]) continue;
        written[static_cast<size_t>(e)] = true;
        const int from = homes_[l] * 64 + static_cast<int>(i) * size;
        if (is_bool(dtype)) {
          mov(ecx, ptr[rsp + homes_[l] * 64]);
          and_(ecx, 1);
          mov(ptr[rdx + e], cl);
        } else {
          const Xbyak::Reg r = size == 8 ? Xbyak::Reg(rcx) : Xbyak::Reg(ecx);
          mov(r, ptr[rsp + from]);
          mov(ptr[rdx + e * size], r);
        }
      }
    }
  }
}

}  // namespace spruce::cpu::x64
