// SPDX-License-Identifier: Apache-2.0
// One instruction of a program as instructions of the processor.
#include <utility>

#include "spruce/core/cpu/x64/emitter.h"

namespace spruce::cpu::x64 {

void Emitter::step(int i) {
  const Inst& inst = (*block_)[static_cast<size_t>(i)];
  now_ = i;
  locked_ = {};
  const auto operands = inst.operands();
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k] >= 0)
      next_[static_cast<size_t>(operands[k])] = next_after_[static_cast<size_t>(i)][k];
  }
  switch (inst.op) {
    case Op::kConst:
      return;
    case Op::kInput:
      if (is_invariant(inst)) return;
      if (in_mask_register(inst))
        load(inst, define_mask(i));
      else
        load(inst, define(i));
      break;
    case Op::kFma:
      fused(inst, i);
      break;
    case Op::kTernary:
      ternary(inst, i);
      break;
    case Op::kRoundF16:
      round_f16(inst, i);
      break;
    case Op::kPermute:
      permute(inst, i);
      break;
    case Op::kGather:
      gather(inst, i);
      break;
    case Op::kCall:
      call(inst, i);
      break;
    case Op::kCorrect:
      correct(inst, i);
      break;
    case Op::kSqrt:
    case Op::kRound:
    case Op::kFromInt:
    case Op::kTruncate:
      unary(inst, i);
      break;
    case Op::kIntQuotient:
      quotient(inst, i);
      break;
    case Op::kIntMulHigh:
      multiply_high(inst, i);
      break;
    case Op::kShiftLeft:
    case Op::kShiftRight:
    case Op::kShiftArithmetic:
      shift(inst, i);
      break;
    case Op::kCompare:
      compare(inst, i);
      break;
    case Op::kIntCompare:
      int_compare(inst, i);
      break;
    case Op::kSelect:
      select(inst, i);
      break;
    case Op::kMaskAnd:
    case Op::kMaskOr:
    case Op::kMaskXor:
    case Op::kMaskNot:
      mask_logic(inst, i);
      break;
    case Op::kStore:
    case Op::kReduce: {
      const int index = fetch_index(inst.a);
      const bool mask = in_mask_register((*block_)[static_cast<size_t>(inst.a)]);
      const Xbyak::Xmm value = mask ? Xbyak::Xmm(index) : vec(index);
      if (inst.op == Op::kStore)
        store(inst, value);
      else
        fold(inst, value);
      release_operands(inst);
      return;
    }
    default:
      binary(inst, i);
  }
  if (last_use(i)) release(i);
}

void Emitter::binary(const Inst& inst, int i) {
  int a = inst.a, b = inst.b;
  switch (inst.op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kIntAdd:
    case Op::kIntMul:
    case Op::kIntMax:
    case Op::kIntMin:
      // What is in memory goes last.
      if (source(a).memory && !source(b).memory) std::swap(a, b);
      break;
    default:
      break;
  }
  const Xbyak::Xmm x = fetch(a);
  const Source from = source(b);
  const Xbyak::Operand& y = from.operand();
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  const bool w = inst.wide;
  switch (inst.op) {
    case Op::kAdd:
      return w ? vaddpd(to, x, y) : vaddps(to, x, y);
    case Op::kSub:
      return w ? vsubpd(to, x, y) : vsubps(to, x, y);
    case Op::kMul:
      return w ? vmulpd(to, x, y) : vmulps(to, x, y);
    case Op::kDiv:
      return w ? vdivpd(to, x, y) : vdivps(to, x, y);
    case Op::kMax:
      return w ? vmaxpd(to, x, y) : vmaxps(to, x, y);
    case Op::kMin:
      return w ? vminpd(to, x, y) : vminps(to, x, y);
    case Op::kScale:
      return w ? vscalefpd(to, x, y) : vscalefps(to, x, y);
    case Op::kAnd:
      return v4() ? vpandd(to, x, y) : vandps(to, x, y);
    case Op::kOr:
      return v4() ? vpord(to, x, y) : vorps(to, x, y);
    case Op::kXor:
      return v4() ? vpxord(to, x, y) : vxorps(to, x, y);
    case Op::kAndNot:
      return v4() ? vpandnd(to, x, y) : vandnps(to, x, y);
    case Op::kIntAdd:
      return w ? vpaddq(to, x, y) : vpaddd(to, x, y);
    case Op::kIntSub:
      return w ? vpsubq(to, x, y) : vpsubd(to, x, y);
    case Op::kIntMul:
      return vpmulld(to, x, y);
    case Op::kIntMax:
      return vpmaxsd(to, x, y);
    case Op::kIntMin:
      return vpminsd(to, x, y);
    case Op::kBlend:
      return w ? vblendpd(to, x, y, inst.imm) : vblendps(to, x, y, inst.imm);
    case Op::kShiftLeftBy:
      return vpsllvd(to, x, y);
    case Op::kShiftRightBy:
      return vpsrlvd(to, x, y);
    case Op::kShiftArithmeticBy:
      return vpsravd(to, x, y);
    default:
      throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  }
}

// The result takes the register of a factor or of the addend that is not needed any more.
void Emitter::fused(const Inst& inst, int i) {
  int a = inst.a, b = inst.b;
  const int c = inst.c;
  if (!dies(a) && dies(b)) std::swap(a, b);
  if (!dies(a) && dies(c) && a != c && b != c) {
    if (source(a).memory && !source(b).memory) std::swap(a, b);
    const Xbyak::Xmm to = fetch(c), x = fetch(a);
    const Source y = source(b);
    inst.wide ? vfmadd231pd(to, x, y.operand()) : vfmadd231ps(to, x, y.operand());
    become(c, i);
    release_operands(inst);
    return;
  }
  if (dies(a) && a != b && a != c) {
    if (source(c).memory || !source(b).memory) {
      const Xbyak::Xmm to = fetch(a), x = fetch(b);
      const Source z = source(c);
      inst.wide ? vfmadd213pd(to, x, z.operand()) : vfmadd213ps(to, x, z.operand());
    } else {
      const Xbyak::Xmm to = fetch(a), z = fetch(c);
      const Source y = source(b);
      inst.wide ? vfmadd132pd(to, z, y.operand()) : vfmadd132ps(to, z, y.operand());
    }
    become(a, i);
    release_operands(inst);
    return;
  }
  if (!source(a).memory && source(b).memory) std::swap(a, b);
  const Source first = source(a);
  const Xbyak::Xmm x = fetch(b);
  const Source z = source(c);
  const Xbyak::Xmm to = define(i);
  vmovups(to, first.operand());
  inst.wide ? vfmadd213pd(to, x, z.operand()) : vfmadd213ps(to, x, z.operand());
  release_operands(inst);
}

void Emitter::unary(const Inst& inst, int i) {
  const Source from = source(inst.a);
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  const Xbyak::Operand& x = from.operand();
  const bool w = inst.wide;
  switch (inst.op) {
    case Op::kSqrt:
      return w ? vsqrtpd(to, x) : vsqrtps(to, x);
    case Op::kRound:
      if (v4()) return w ? vrndscalepd(to, x, inst.imm) : vrndscaleps(to, x, inst.imm);
      return w ? vroundpd(to, x, inst.imm) : vroundps(to, x, inst.imm);
    case Op::kFromInt:
      return vcvtdq2ps(to, x);
    default:
      return vcvttps2dq(to, x);
  }
}

// In f64, which has the bits for it, half a vector at a time.
void Emitter::quotient(const Inst& inst, int i) {
  const Xbyak::Xmm a = fetch(inst.a), b = fetch(inst.b);
  const Xbyak::Xmm low = temporary(), high = temporary(), divisor = temporary();
  const auto half = [&](const Xbyak::Xmm& x) { return vec(x.getIdx(), bytes() / 2); };
  const auto divide = [&](const Xbyak::Xmm& y, const Xbyak::Xmm& x, const Xbyak::Xmm& by) {
    vcvtdq2pd(y, half(x));
    vcvtdq2pd(divisor, half(by));
    vdivpd(y, y, divisor);
    vcvttpd2dq(half(y), y);
  };
  const auto upper = [&](const Xbyak::Xmm& to, const Xbyak::Xmm& x) {
    v4() ? vextracti64x4(Xbyak::Ymm(to.getIdx()), Xbyak::Zmm(x.getIdx()), 1)
         : vextracti128(half(to), Xbyak::Ymm(x.getIdx()), 1);
  };
  divide(low, a, b);
  upper(high, a);
  upper(divisor, b);
  divide(high, high, divisor);
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  v4() ? vinserti64x4(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(low.getIdx()), half(high), 1)
       : vinserti128(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(low.getIdx()), half(high), 1);
}

// The instruction multiplies the lanes with even numbers only.
void Emitter::multiply_high(const Inst& inst, int i) {
  const Xbyak::Xmm a = fetch(inst.a), b = fetch(inst.b);
  const Xbyak::Xmm even = temporary(), odd = temporary(), by = temporary();
  vpmuldq(even, a, b);
  vpsrlq(odd, a, 32);
  vpsrlq(by, b, 32);
  vpmuldq(odd, odd, by);
  vpsrlq(even, even, 32);
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  if (!v4()) return vpblendd(to, even, odd, 0xaa);
  vpsrlq(odd, odd, 32);
  vpsllq(odd, odd, 32);
  vporq(to, even, odd);
}

// The first operand's register becomes the result's.
void Emitter::ternary(const Inst& inst, int i) {
  const Source first = source(inst.a);
  const Xbyak::Xmm x = fetch(inst.b);
  const Source y = source(inst.c);
  Xbyak::Xmm to = first.reg;
  if (dies(inst.a) && inst.a != inst.b && inst.a != inst.c) {
    become(inst.a, i);
  } else {
    to = define(i);
    vmovups(to, first.operand());
  }
  vpternlogd(to, x, y.operand(), inst.imm);
  release_operands(inst);
}

void Emitter::round_f16(const Inst& inst, int i) {
  const Xbyak::Xmm x = fetch(inst.a);
  release_operands(inst);
  const Xbyak::Xmm to = define(i), half = vec(to.getIdx(), bytes() / 2);
  vcvtps2ph(half, x, kToNearestEven);
  vcvtph2ps(to, half);
}

void Emitter::shift(const Inst& inst, int i) {
  const Xbyak::Xmm x = fetch(inst.a);
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  switch (inst.op) {
    case Op::kShiftLeft:
      return inst.wide ? vpsllq(to, x, inst.imm) : vpslld(to, x, inst.imm);
    case Op::kShiftRight:
      return inst.wide ? vpsrlq(to, x, inst.imm) : vpsrld(to, x, inst.imm);
    default:
      return vpsrad(to, x, inst.imm);
  }
}

void Emitter::permute(const Inst& inst, int i) {
  if (inst.wide) {
    const Source from = source(inst.a);
    release_operands(inst);
    return vpermq(Xbyak::Ymm(define(i).getIdx()), from.operand(), inst.imm);
  }
  const Xbyak::Ymm places(fetch(inst.b).getIdx());
  const Source from = source(inst.a);
  release_operands(inst);
  vpermps(Xbyak::Ymm(define(i).getIdx()), places, from.operand());
}

// Element by element, which is up to 1.8 times as fast as a gather of the processor (Zen 4) and not
// slower where elements come from memory. All lanes have one: those behind the last of a run too.
void Emitter::gather(const Inst& inst, int i) {
  point_to_array(inst);
  const Xbyak::Xmm at = fetch(inst.a), to = define(i);
  const Xbyak::Xmm a = vec(temporary().getIdx(), 16), b = vec(temporary().getIdx(), 16),
                   c = vec(temporary().getIdx(), 16);
  const auto load_two = [&](const Xbyak::Xmm& two, const Xbyak::Reg64& places) {
    mov(r15d, places.cvt32());
    shr(places, 32);
    vmovss(two, ptr[rdx + r15 * 4]);
    vmovss(c, ptr[rdx + places * 4]);
    vunpcklps(two, two, c);
  };
  for (int lane = 0; lane < bytes_ / 4; lane += 4) {
    const Xbyak::Xmm places = lane == 0 ? vec(at.getIdx(), 16) : c,
                     four = lane == 0 ? vec(to.getIdx(), 16) : a;
    if (lane > 0 && v4())
      vextracti32x4(places, Xbyak::Zmm(at.getIdx()), lane / 4);
    else if (lane > 0)
      vextracti128(places, Xbyak::Ymm(at.getIdx()), 1);
    vmovq(r13, places);
    vpextrq(r14, places, 1);
    load_two(four, r13);
    load_two(b, r14);
    vmovlhps(four, four, b);
    if (lane > 0 && v4())
      vinsertf32x4(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(to.getIdx()), four, lane / 4);
    else if (lane > 0)
      vinsertf128(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(to.getIdx()), four, 1);
  }
  release_operands(inst);
}

void Emitter::compare(const Inst& inst, int i) {
  const Xbyak::Xmm x = fetch(inst.a);
  const Source y = source(inst.b);
  release_operands(inst);
  if (v4()) {
    const Xbyak::Opmask to = define_mask(i);
    inst.wide ? vcmppd(to, x, y.operand(), inst.imm) : vcmpps(to, x, y.operand(), inst.imm);
  } else {
    const Xbyak::Xmm to = define(i);
    inst.wide ? vcmppd(to, x, y.operand(), inst.imm) : vcmpps(to, x, y.operand(), inst.imm);
  }
}

void Emitter::int_compare(const Inst& inst, int i) {
  const Xbyak::Xmm x = fetch(inst.a);
  if (v4()) {
    const Source y = source(inst.b);
    release_operands(inst);
    const int imm = inst.imm == kEq   ? 0
                    : inst.imm == kLt ? 1
                    : inst.imm == kLe ? 2
                    : inst.imm == kNe ? 4
                    : inst.imm == kGe ? 5
                                      : 6;
    const Xbyak::Opmask to = define_mask(i);
    return inst.wide ? vpcmpq(to, x, y.operand(), static_cast<uint8_t>(imm))
                     : vpcmpd(to, x, y.operand(), static_cast<uint8_t>(imm));
  }
  const Xbyak::Xmm y = fetch(inst.b), to = define(i);
  bool negate = false;
  switch (inst.imm) {
    case kNe:
      negate = true;
      [[fallthrough]];
    case kEq:
      inst.wide ? vpcmpeqq(to, x, y) : vpcmpeqd(to, x, y);
      break;
    case kLe:
      negate = true;
      [[fallthrough]];
    case kGt:
      inst.wide ? vpcmpgtq(to, x, y) : vpcmpgtd(to, x, y);
      break;
    default:
      negate = inst.imm == kGe;
      inst.wide ? vpcmpgtq(to, y, x) : vpcmpgtd(to, y, x);
  }
  if (negate) {
    const Xbyak::Xmm ones = temporary();
    vpcmpeqd(ones, ones, ones);
    vxorps(to, to, ones);
  }
  release_operands(inst);
}

void Emitter::select(const Inst& inst, int i) {
  const bool w = inst.wide;
  if (v4()) {
    const Xbyak::Opmask m = fetch_mask(inst.a);
    const Source yes = source(inst.b);
    if (is_zero(inst.c)) {
      release_operands(inst);
      const Xbyak::Xmm to = define(i);
      w ? vmovapd(to | m | T_z, yes.operand()) : vmovups(to | m | T_z, yes.operand());
      return;
    }
    const Xbyak::Xmm no = fetch(inst.c);
    release_operands(inst);
    const Xbyak::Xmm to = define(i);
    w ? vblendmpd(to | m, no, yes.operand()) : vblendmps(to | m, no, yes.operand());
    return;
  }
  const Xbyak::Xmm m = fetch(inst.a);
  if (is_zero(inst.c) || is_zero(inst.b)) {
    const bool kept = is_zero(inst.c);
    const Source x = source(kept ? inst.b : inst.c);
    release_operands(inst);
    const Xbyak::Xmm to = define(i);
    return kept ? vandps(to, m, x.operand()) : vandnps(to, m, x.operand());
  }
  const Source yes = source(inst.b);
  const Xbyak::Xmm no = fetch(inst.c);
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  w ? vblendvpd(to, no, yes.operand(), m) : vblendvps(to, no, yes.operand(), m);
}

void Emitter::mask_logic(const Inst& inst, int i) {
  if (v4()) {
    const Xbyak::Opmask x = fetch_mask(inst.a);
    const Xbyak::Opmask y = inst.b >= 0 ? fetch_mask(inst.b) : x;
    release_operands(inst);
    const Xbyak::Opmask to = define_mask(i);
    switch (inst.op) {
      case Op::kMaskAnd:
        return kandw(to, x, y);
      case Op::kMaskOr:
        return korw(to, x, y);
      case Op::kMaskXor:
        return kxorw(to, x, y);
      default:
        return knotw(to, x);
    }
  }
  const Xbyak::Xmm x = fetch(inst.a);
  if (inst.op == Op::kMaskNot) {
    const Xbyak::Xmm ones = temporary();
    vpcmpeqd(ones, ones, ones);
    vxorps(define(i), x, ones);
    return release_operands(inst);
  }
  const Source from = source(inst.b);
  const Xbyak::Operand& y = from.operand();
  release_operands(inst);
  const Xbyak::Xmm to = define(i);
  switch (inst.op) {
    case Op::kMaskAnd:
      return vandps(to, x, y);
    case Op::kMaskOr:
      return vorps(to, x, y);
    default:
      return vxorps(to, x, y);
  }
}

}  // namespace spruce::cpu::x64
