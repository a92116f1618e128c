// SPDX-License-Identifier: Apache-2.0
// Straight-line programs over vectors, in single assignment: what stages and tiny graphs are
// lowered to before they become machine code. A value is the index of its instruction. The 16-bit
// floats are f32 in programs, rounded after each operation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace spruce::cpu::x64 {

class LaneCall;

/// Operations on lanes of 32 or, where `Inst::wide`, 64 bits. Those marked M give a mask.
enum class Op : uint8_t {
  kConst,  // constants[index]
  kInput,  // input `index`; `copy` says which vector of the unrolled loop
  kAdd,    // floats
  kSub,
  kMul,
  kDiv,
  kFma,  // a * b + c, rounded once
  kSqrt,
  kMax,      // a > b ? a : b, so b where one is NaN
  kMin,      // a < b ? a : b
  kRound,    // imm: RoundMode
  kScale,    // a * 2^b for an integer b in a float; AVX-512 only
  kCompare,  // M; imm: Predicate
  kAnd,      // bits
  kOr,
  kXor,
  kAndNot,   // ~a & b
  kTernary,  // bits, by the truth table imm: bit 4a + 2b + c; AVX-512 only
  kIntAdd,
  kIntSub,
  kIntMul,       // 32 bits only
  kIntMulHigh,   // the upper half of the product of 64 bits; 32 bits, signed
  kIntQuotient,  // a / b rounded toward zero, 32 bits, signed, where that is a number of 32 bits
  kIntMax,       // 32 bits, signed
  kIntMin,
  kIntCompare,       // M; 32 bits, signed; imm: kEq, kLt, kLe, kGt, kGe or kNe
  kShiftLeft,        // by imm bits
  kShiftRight,       // logical
  kShiftArithmetic,  // 32 bits only
  kShiftLeftBy,      // by the bits that b says, at most 31
  kShiftRightBy,
  kShiftArithmeticBy,
  kFromInt,   // signed 32-bit integers to f32
  kTruncate,  // f32 to signed 32-bit integers, 0x80000000 where it does not fit
  kSelect,    // mask a ? b : c
  kMaskAnd,   // M
  kMaskOr,    // M
  kMaskXor,   // M
  kMaskNot,   // M
  kRoundF16,  // f32 to the nearest f16, as f32
  kCall,      // what call `index` makes of a, b and c
  kCorrect,   // c, where mask a is nowhere set; else what call `index` makes of b and d
  kPermute,   // lane i is lane b[i] of a; of 64 bits, by imm
  kGather,    // lane i is element a[i] of the array that input `index` points to; 32 bits only
  kBlend,     // lane i is that of b where bit i of imm is set, else that of a; AVX2
  kStore,     // output `index`, imm: Stage::Mode
  kReduce,    // reduction `index`, imm: Stage::Kind
};

/// The encodings of VCMPPS.
enum Predicate : uint8_t {
  kEq = 0x00,
  kLt = 0x11,
  kLe = 0x12,
  kUnordered = 0x03,
  kNe = 0x04,
  kNotLt = 0x15,
  kNotLe = 0x16,
  kNotGe = 0x19,
  kNotGt = 0x1a,
  kOrdered = 0x07,
  kGe = 0x1d,
  kGt = 0x1e,
};

/// The encodings of VROUNDPS and VRNDSCALEPS, which raise no exception.
enum RoundMode : uint8_t { kNearest = 8, kDown = 9, kUp = 10, kTowardZero = 11 };

struct Inst {
  Op op;
  uint8_t imm = 0;
  bool wide = false;
  uint8_t copy = 0;
  int16_t index = 0;
  int a = -1, b = -1, c = -1, d = -1;

  std::array<int, 4> operands() const { return {a, b, c, d}; }
  bool has_value() const { return op != Op::kStore && op != Op::kReduce; }
};

/// A constant: 32 bytes of lanes, which repeat in wider vectors.
struct Constant {
  std::array<uint32_t, 8> words;

  /// The same bits in all lanes.
  static Constant uniform(uint64_t bits, bool wide) {
    Constant c{};
    for (size_t i = 0; i < 8; ++i)
      c.words[i] = static_cast<uint32_t>(wide && i % 2 == 1 ? bits >> 32 : bits);
    return c;
  }
  bool is_zero() const { return words == std::array<uint32_t, 8>{}; }
  friend bool operator==(const Constant&, const Constant&) = default;
};

struct Program {
  std::vector<Inst> insts;
  std::vector<Constant> constants;
  std::vector<std::shared_ptr<const LaneCall>> calls;  // live as long as the code
};

}  // namespace spruce::cpu::x64
