// SPDX-License-Identifier: Apache-2.0
// Registers: rdi and rsi hold the arrays of pointers, rax the element, rcx the end, rdx is free for
// a moment; rbx and r8 to r15 hold pointers, but for r13 to r15 where there are gathers.
#include "spruce/core/cpu/x64/stage_emitter.h"

#include <algorithm>
#include <numeric>

#include "spruce/core/cpu/x64/half.h"
#include "spruce/core/cpu/x64/lower.h"

namespace spruce::cpu::x64 {
namespace {

constexpr int kPointerRegisters[] = {3, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr int kMostOfTwo = 400,
              kMostOfFour = 200;  // instructions of an iteration of so many copies

}  // namespace

StageEmitter::StageEmitter(const Stage& stage, const StageProgram& program, IsaLevel level)
    : Emitter(program.program, level, level == IsaLevel::kV4 ? 64 : 32),
      stage_(stage),
      program_(program),
      lanes_(bytes() / (program.wide ? 8 : 4)) {
  lanes_slot_ = new_slot();
  tail_slot_ = new_slot();
  for (const Stage::Input& in : stage.inputs) scalar_slots_.push_back(in.scalar ? new_slot() : -1);
  scalar_registers_.assign(stage.inputs.size(), -1);
}

int StageEmitter::home_slot(const Inst& inst) const {
  return scalar_slots_[static_cast<size_t>(inst.index)];
}
bool StageEmitter::mask_input(const Inst& inst) const { return is_bool(input(inst).dtype); }

// --- the loop ---------------------------------------------------------------------------------

std::vector<Inst> StageEmitter::unrolled(int copies) const {
  const std::vector<Inst>& body = program_.program.insts;
  std::vector<Inst> all;
  std::vector<std::array<int, 4>> place(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    const bool once = body[i].op == Op::kConst || scalar(body[i]);
    for (int u = 0; u < copies; ++u) {
      const size_t copy = static_cast<size_t>(u);
      if (once && u > 0) {
        place[i][copy] = place[i][0];
        continue;
      }
      Inst inst = body[i];
      inst.copy = static_cast<uint8_t>(u);
      for (int* v : {&inst.a, &inst.b, &inst.c, &inst.d}) {
        if (*v >= 0) *v = place[static_cast<size_t>(*v)][copy];
      }
      place[i][copy] = static_cast<int>(all.size());
      all.push_back(inst);
    }
  }
  return all;
}

void StageEmitter::choose_unrolling() {
  const int reductions = static_cast<int>(stage_.reductions.size());
  const int registers = free_registers();
  const int instructions = static_cast<int>(program_.program.insts.size());
  // Gathered elements are on their way for as many places as the processor looks ahead: with one
  // copy, what is between two gathers is short.
  for (copies_ = gathers() ? 1 : 4; copies_ > 1; copies_ /= 2) {
    if (instructions * copies_ > (copies_ == 2 ? kMostOfTwo : kMostOfFour)) continue;
    if (pressure(unrolled(copies_)) + reductions * copies_ <= registers - 2) break;
  }
  const std::vector<Inst> block = unrolled(copies_);
  int room = registers - pressure(block) - 2;
  for (int i = 0; i < reductions * copies_; ++i) {
    accumulators_.push_back(room-- > 0 ? pin() : -1);
    accumulator_slots_.push_back(accumulators_.back() < 0 ? new_slot() : -1);
  }
  pin_invariants(block, room);
}

void StageEmitter::pin_invariants(const std::vector<Inst>& block, int room) {
  std::vector<int> uses(block.size(), 0);
  for (const Inst& inst : block) {
    for (const int v : inst.operands()) {
      if (v >= 0) ++uses[static_cast<size_t>(v)];
    }
  }
  std::vector<int> order;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool vector = !v4() || !scalar(block[i]) || !mask_input(block[i]);
    if ((block[i].op == Op::kConst || scalar(block[i])) && vector)
      order.push_back(static_cast<int>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return uses[static_cast<size_t>(a)] > uses[static_cast<size_t>(b)];
  });
  for (const int v : order) {
    if (room-- <= 0) break;
    const Inst& inst = block[static_cast<size_t>(v)];
    if (inst.op == Op::kConst) {
      pin_constant(inst.index);
    } else {
      const int reg = pin();
      scalar_registers_[static_cast<size_t>(inst.index)] = reg;
      pin_home(home_slot(inst), reg);
    }
  }
}

std::vector<uint8_t> StageEmitter::generate() {
  choose_unrolling();
  choose_segments();
  assign_pointers();
  function(false);
  if (segments_ > 1) {
    window_offset_ = getSize();
    stage_.reductions.empty() ? windows() : window_of_reductions();
  }
  if (!v4()) {
    tail_offset_ = getSize();
    function(true);
    while (getSize() % 64 != 0) db(0);
    L(tail_table_);
    for (int i = 0; i < 8; ++i) dq(i < 4 ? ~uint64_t{0} : 0);
  }
  return finish();
}

void StageEmitter::begin_function() {
  enter();
  mov(rax, rcx);
  mov(rcx, r8);
  if (!stage_.reductions.empty()) mov(ptr[rsp + lanes_slot_ * 64], rdx);
  load_scalars();
  load_pointers();
  load_pinned_constants();
}

void StageEmitter::function(bool tail_only) {
  begin_function();
  start_accumulators();
  if (tail_only) {
    make_tail_mask();
    masked_ = true;
    emit(unrolled(1));
    masked_ = false;
  } else {
    for (int copies = copies_; copies > 0; copies = copies > 1 ? 1 : 0) {
      Xbyak::Label loop, done;
      lea(rdx, ptr[rax + copies * lanes_]);
      cmp(rdx, rcx);
      jg(done, T_NEAR);
      L(loop);
      emit(unrolled(copies));
      add(rax, copies * lanes_);
      lea(rdx, ptr[rax + copies * lanes_]);
      cmp(rdx, rcx);
      jle(loop, T_NEAR);
      L(done);
    }
    if (v4()) {
      Xbyak::Label done;
      cmp(rax, rcx);
      jge(done, T_NEAR);
      make_tail_mask();
      masked_ = true;
      emit(unrolled(1));
      masked_ = false;
      L(done);
    }
  }
  finish_accumulators(0);
  leave();
}

void StageEmitter::make_tail_mask() {
  if (v4()) {
    sub(rcx, rax);
    mov(edx, -1);
    bzhi(edx, edx, ecx);
    kmovd(k7, edx);
    return;
  }
  sub(rcx, rax);
  if (program_.wide) add(rcx, rcx);
  neg(rcx);
  lea(rdx, ptr[rip + tail_table_]);
  vmovups(ymm0, ptr[rdx + rcx * 4 + 32]);
  vmovups(slot(tail_slot_), ymm0);
}

bool StageEmitter::gathers() const {
  return std::any_of(stage_.inputs.begin(), stage_.inputs.end(),
                     [](const Stage::Input& in) { return in.whole > 0; });
}

// --- memory -----------------------------------------------------------------------------------

void StageEmitter::assign_pointers() {
  const size_t most = std::size(kPointerRegisters) - (gathers() ? 3 : 0);
  size_t next = 0;
  const auto assign = [&](bool wanted) {
    const bool has = wanted && next < most;
    pointers_.push_back(has ? kPointerRegisters[next++] : -1);
  };
  for (const Stage::Input& in : stage_.inputs) assign(!in.scalar);
  for (size_t i = 0; i < stage_.outputs.size(); ++i) assign(true);
}

void StageEmitter::load_pointers() {
  const size_t inputs = stage_.inputs.size();
  for (size_t i = 0; i < pointers_.size(); ++i) {
    if (pointers_[i] < 0) continue;
    const bool output = i >= inputs;
    const int at = static_cast<int>(output ? i - inputs : i) * 8;
    mov(Xbyak::Reg64(pointers_[i]), output ? ptr[rsi + at] : ptr[rdi + at]);
  }
}

void StageEmitter::load_scalars() {
  for (size_t i = 0; i < stage_.inputs.size(); ++i) {
    if (!stage_.inputs[i].scalar || stage_.inputs[i].whole > 0) continue;
    mov(rdx, ptr[rdi + static_cast<int>(i) * 8]);
    const int pinned = scalar_registers_[i];
    const Xbyak::Xmm to = vec(pinned >= 0 ? pinned : 0);
    if (is_bool(stage_.inputs[i].dtype)) {
      movzx(edx, byte[rdx]);
      neg(rdx);
      if (v4()) {
        mov(ptr[rsp + scalar_slots_[i] * 64], rdx);
        continue;
      }
      vmovd(vec(to.getIdx(), 16), edx);
      vpbroadcastd(to, vec(to.getIdx(), 16));
    } else if (is_byte(stage_.inputs[i].dtype)) {
      const Xbyak::Xmm one = vec(to.getIdx(), 16);
      stage_.inputs[i].dtype == Dtype::kInt8 ? movsx(edx, byte[rdx]) : movzx(edx, byte[rdx]);
      vmovd(one, edx);
      vpbroadcastd(to, one);
    } else if (is_half(stage_.inputs[i].dtype)) {
      const Xbyak::Xmm one = vec(to.getIdx(), 16);
      const bool bfloat = stage_.inputs[i].dtype == Dtype::kBfloat16;
      movzx(edx, word[rdx]);
      if (bfloat) shl(edx, 16);
      vmovd(one, edx);
      if (!bfloat) vcvtph2ps(one, one);
      vbroadcastss(to, one);
    } else if (program_.wide) {
      v4() ? vbroadcastsd(Xbyak::Zmm(to.getIdx()), ptr[rdx])
           : vbroadcastsd(Xbyak::Ymm(to.getIdx()), ptr[rdx]);
    } else {
      vbroadcastss(to, ptr[rdx]);
    }
    if (pinned < 0) vmovups(slot(scalar_slots_[i]), to);
  }
}

Xbyak::Address StageEmitter::element(bool output, int index, Dtype dtype, int copy) {
  const size_t which = static_cast<size_t>(index) + (output ? stage_.inputs.size() : 0);
  const int size = static_cast<int>(size_of(dtype)), at = copy * lanes_ * size;
  if (pointers_[which] >= 0) return ptr[Xbyak::Reg64(pointers_[which]) + rax * size + at];
  mov(rdx, output ? ptr[rsi + index * 8] : ptr[rdi + index * 8]);
  return ptr[rdx + rax * size + at];
}

void StageEmitter::load(const Inst& inst, const Xbyak::Operand& to) {
  const Dtype dtype = input(inst).dtype;
  const Xbyak::Address from = element(false, inst.index, dtype, inst.copy);
  if (is_bool(dtype)) return load_bools(from, to);
  const Xbyak::Xmm x = vec(to.getIdx());
  if (is_half(dtype)) return load_halves(from, x, dtype);
  if (is_byte(dtype)) {
    const Xbyak::Xmm all = masked_ && v4() ? x | k7 | T_z : x;
    return dtype == Dtype::kInt8 ? vpmovsxbd(all, from) : vpmovzxbd(all, from);
  }
  if (masked_ && v4())
    program_.wide ? vmovupd(x | k7 | T_z, from) : vmovups(x | k7 | T_z, from);
  else
    vmovups(x, from);
}

void StageEmitter::load_bools(const Xbyak::Address& from, const Xbyak::Operand& to) {
  if (v4()) {
    const Xbyak::Xmm x = vec(temporary().getIdx(), 16);
    if (masked_)
      vmovdqu8(x | k7 | T_z, from);
    else if (lanes_ == 16)
      vmovups(x, from);
    else
      vmovq(x, from);
    vptestmb(Xbyak::Opmask(to.getIdx()), x, x);
    return;
  }
  const Xbyak::Xmm x = vec(to.getIdx()), zero = temporary();
  vpxor(zero, zero, zero);
  if (program_.wide) {
    vpmovzxbq(Xbyak::Ymm(x.getIdx()), from);
    vpcmpgtq(x, x, zero);
  } else {
    vpmovzxbd(Xbyak::Ymm(x.getIdx()), from);
    vpcmpgtd(x, x, zero);
  }
}

void StageEmitter::load_halves(const Xbyak::Address& from, const Xbyak::Xmm& to, Dtype dtype) {
  const Xbyak::Xmm x = masked_ && v4() ? to | k7 | T_z : to;
  if (dtype == Dtype::kFloat16) return vcvtph2ps(x, from);
  vpmovzxwd(x, from);
  vpslld(to, to, 16);
}

void StageEmitter::store(const Inst& inst, const Xbyak::Xmm& value) {
  const Stage::Output& o = stage_.outputs[static_cast<size_t>(inst.index)];
  const Dtype dtype = stage_.dtype_of(o.value);
  const Xbyak::Address to = element(true, inst.index, dtype, inst.copy);
  if (is_bool(dtype)) return store_bools(to, value);
  if (is_half(dtype)) return store_halves(to, value, dtype);
  if (is_byte(dtype)) return store_bytes(to, value, dtype);
  const bool mask = masked_ && v4();
  Xbyak::Xmm x = value;
  if (o.mode != Stage::Mode::kStore) {
    const Xbyak::Xmm old = temporary();
    x = temporary();
    if (mask)
      program_.wide ? vmovupd(old | k7 | T_z, to) : vmovups(old | k7 | T_z, to);
    else
      vmovups(old, to);
    const Stage::Kind kind = o.mode == Stage::Mode::kAdd   ? Stage::Kind::kSum
                             : o.mode == Stage::Mode::kMax ? Stage::Kind::kMax
                                                           : Stage::Kind::kMin;
    join(x, old, value, kind, dtype);
  }
  if (mask)
    program_.wide ? vmovupd(to | k7, x) : vmovups(to | k7, x);
  else
    vmovups(to, x);
}

void StageEmitter::store_bools(const Xbyak::Address& to, const Xbyak::Xmm& value) {
  const Xbyak::Xmm x = vec(temporary().getIdx(), 16);
  if (v4()) {
    vpmovm2b(x, Xbyak::Opmask(value.getIdx()));
    vpabsb(x, x);
    if (masked_)
      vmovdqu8(to | k7, x);
    else if (lanes_ == 16)
      vmovups(to, x);
    else
      vmovq(to, x);
    return;
  }
  const Xbyak::Xmm low = vec(value.getIdx(), 16);
  vextracti128(x, Xbyak::Ymm(value.getIdx()), 1);
  if (program_.wide) {
    vshufps(x, low, x, 0x88);
    vpackssdw(x, x, x);
  } else {
    vpackssdw(x, low, x);
  }
  vpacksswb(x, x, x);
  vpabsb(x, x);
  if (program_.wide)
    vmovd(to, x);
  else
    vmovq(to, x);
}

void StageEmitter::store_bytes(const Xbyak::Address& to, const Xbyak::Xmm& value, Dtype dtype) {
  if (v4()) return vpmovdb(masked_ ? to | k7 : to, value);
  const Xbyak::Xmm low = vec(value.getIdx(), 16), x = vec(temporary().getIdx(), 16);
  vextracti128(x, Xbyak::Ymm(value.getIdx()), 1);
  vpackssdw(x, low, x);
  dtype == Dtype::kInt8 ? vpacksswb(x, x, x) : vpackuswb(x, x, x);
  vmovq(to, x);
}

// An f16 is rounded here, of a bf16 the lower half is dropped.
void StageEmitter::store_halves(const Xbyak::Address& to, const Xbyak::Xmm& value, Dtype dtype) {
  const Xbyak::Address place = masked_ && v4() ? to | k7 : to;
  if (dtype == Dtype::kFloat16) return vcvtps2ph(place, value, kToNearestEven);
  const Xbyak::Xmm x = temporary();
  vpsrld(x, value, 16);
  if (v4()) return vpmovdw(place, x);
  const Xbyak::Xmm low = vec(x.getIdx(), 16), high = vec(temporary().getIdx(), 16);
  vextracti128(high, Xbyak::Ymm(x.getIdx()), 1);
  vpackusdw(low, low, high);
  vmovups(to, low);
}

// --- reductions -------------------------------------------------------------------------------

// to = held op value; `to` is neither of them, or `held`.
void StageEmitter::join(const Xbyak::Xmm& to, const Xbyak::Xmm& held, const Xbyak::Xmm& value,
                        Stage::Kind kind, Dtype dtype) {
  const bool w = program_.wide, largest = kind == Stage::Kind::kMax;
  const bool extremum = largest || kind == Stage::Kind::kMin;
  if (!is_floating(dtype)) {
    if (kind == Stage::Kind::kSum) return vpaddd(to, held, value);
    if (!extremum) return vpmulld(to, held, value);
    if (dtype == Dtype::kUint32)
      return largest ? vpmaxud(to, held, value) : vpminud(to, held, value);
    return largest ? vpmaxsd(to, held, value) : vpminsd(to, held, value);
  }
  if (kind == Stage::Kind::kSum) return w ? vaddpd(to, held, value) : vaddps(to, held, value);
  if (!extremum) return w ? vmulpd(to, held, value) : vmulps(to, held, value);
  // A NaN of `held` stays by the order of the operands, one of `value` by a second step.
  if (largest)
    w ? vmaxpd(to, value, held) : vmaxps(to, value, held);
  else
    w ? vminpd(to, value, held) : vminps(to, value, held);
  if (v4()) {
    const Xbyak::Opmask nan = temporary_mask();
    w ? vcmppd(nan, value, value, kUnordered) : vcmpps(nan, value, value, kUnordered);
    w ? vmovupd(to | nan, value) : vmovups(to | nan, value);
  } else {
    const Xbyak::Xmm nan = temporary();
    w ? vcmppd(nan, value, value, kUnordered) : vcmpps(nan, value, value, kUnordered);
    w ? vblendvpd(to, to, value, nan) : vblendvps(to, to, value, nan);
  }
}

void StageEmitter::fold_into(int accumulator, int reduction, const Xbyak::Xmm& value) {
  const Stage::Reduction& r = stage_.reductions[static_cast<size_t>(reduction)];
  const int reg = accumulators_[static_cast<size_t>(accumulator)];
  const int home = accumulator_slots_[static_cast<size_t>(accumulator)];
  const Xbyak::Xmm held = reg >= 0 ? vec(reg) : temporary();
  if (reg < 0) vmovups(held, slot(home));
  if (masked_) {
    Xbyak::Xmm x = temporary();
    vmovups(x, constant(program_.identities[static_cast<size_t>(reduction)]));
    if (v4()) {
      program_.wide ? vmovupd(x | k7, value) : vmovups(x | k7, value);
    } else {
      const Xbyak::Xmm mask = temporary();
      vmovups(mask, slot(tail_slot_));
      vblendvps(x, x, value, mask);
    }
    join(held, held, x, r.kind, stage_.dtype_of(r.value));
  } else {
    join(held, held, value, r.kind, stage_.dtype_of(r.value));
  }
  if (reg < 0) vmovups(slot(home), held);
}

void StageEmitter::fold(const Inst& inst, const Xbyak::Xmm& value) {
  fold_into(inst.index * copies_ + inst.copy, inst.index, value);
}

void StageEmitter::start_accumulators() {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    const int identity = program_.identities[i / static_cast<size_t>(copies_)];
    const Xbyak::Xmm x = vec(accumulators_[i] >= 0 ? accumulators_[i] : 0);
    vmovups(x, constant(identity));
    if (accumulators_[i] < 0) vmovups(slot(accumulator_slots_[i]), x);
  }
}

void StageEmitter::finish_accumulators(int at) {
  if (stage_.reductions.empty()) return;
  mov(rdx, ptr[rsp + lanes_slot_ * 64]);
  for (size_t r = 0; r < stage_.reductions.size(); ++r) {
    const size_t first = r * static_cast<size_t>(copies_);
    const auto reg = [&](size_t i, int spare) {
      if (accumulators_[i] >= 0) return vec(accumulators_[i]);
      vmovups(vec(spare), slot(accumulator_slots_[i]));
      return vec(spare);
    };
    release_all();
    const Xbyak::Xmm sum = reg(first, hold(0));
    for (int u = 1; u < copies_; ++u) {
      join(sum, sum, reg(first + static_cast<size_t>(u), hold(1)), stage_.reductions[r].kind,
           stage_.dtype_of(stage_.reductions[r].value));
    }
    vmovups(ptr[rdx + at + static_cast<int>(r) * 64], sum);
  }
}

}  // namespace spruce::cpu::x64
