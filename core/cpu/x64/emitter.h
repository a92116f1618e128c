// SPDX-License-Identifier: Apache-2.0
// Programs as machine code: registers are given to values in the order of the instructions, and the
// value that is needed last goes to memory where there are too few.
#pragma once

#include <xbyak/xbyak.h>

#include <list>
#include <optional>
#include <vector>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/x64/program.h"

namespace spruce::cpu::x64 {

/// Where an operand is.
struct Source {
  Xbyak::Xmm reg;
  std::optional<Xbyak::Address> memory;

  const Xbyak::Operand& operand() const {
    if (memory) return *memory;
    return reg;
  }
};

/// Memory of the generator while it writes; what it wrote is copied from there.
class PlainAllocator : public Xbyak::Allocator {
 public:
  uint8_t* alloc(size_t size) override { return new uint8_t[size]; }
  void free(uint8_t* p) override { delete[] p; }
  bool useProtect() const override { return false; }
};

/// Emits blocks of instructions within one function. Values that do not change (constants, and what
/// `keep` names) have a home in memory for the whole function, and a register if there is one left.
class Emitter : private PlainAllocator, protected Xbyak::CodeGenerator {
 public:
  virtual ~Emitter() = default;

 protected:
  enum Class : uint8_t { kVector, kMask };
  static constexpr uint8_t kToNearestEven = 0;  // of VCVTPS2PH

  Emitter(const Program& program, IsaLevel level, int vector_bytes);

  bool v4() const { return level_ == IsaLevel::kV4; }
  int bytes() const { return bytes_; }
  Xbyak::Xmm vec(int index) const;
  Xbyak::Xmm vec(int index, int bytes) const;

  /// How many registers the block needs at once beside its invariants.
  int pressure(const std::vector<Inst>& block) const;
  /// Emits the block. Its values are numbered within the block, and it ends with none of them.
  void emit(const std::vector<Inst>& block);

  // What loads, stores and folds: emitted by those who know where things are.
  virtual void load(const Inst& inst, const Xbyak::Operand& to) = 0;
  virtual void store(const Inst& inst, const Xbyak::Xmm& value) = 0;
  virtual void fold(const Inst& inst, const Xbyak::Xmm& value) = 0;
  /// Where there are gathers: rdx = the array that input `index` of the instruction points to; r13
  /// to r15 are free.
  virtual void point_to_array(const Inst&) {}
  /// The home of an input that does not change, or -1.
  virtual int home_slot(const Inst&) const { return -1; }
  virtual bool mask_input(const Inst&) const { return false; }

  Xbyak::Address slot(int index);
  int new_slot() { return slots_++; }
  Xbyak::Address constant(int index);
  /// Gives one register to a value for the whole function.
  int pin();
  /// Registers that are not pinned.
  int free_registers() const { return (v4() ? 32 : 16) - pinned_; }
  /// Pins a register for an invariant; it holds what `load_pinned` puts there.
  void pin_constant(int index) { constant_pins_[static_cast<size_t>(index)] = pin(); }
  void pin_home(int slot, int reg) { home_pins_.push_back({slot, reg}); }
  void load_pinned_constants();

  /// A register for the time of one instruction.
  Xbyak::Xmm temporary();
  Xbyak::Opmask temporary_mask();
  /// Outside of blocks: all registers are free, then this one is not.
  void release_all();
  int hold(int reg) {
    locked_[kVector] |= 1u << reg;
    return reg;
  }

  void enter();  // the prologue, which aligns the frame to 64
  void leave();
  /// The bytes of all that was emitted, with constants; empty where something went wrong.
  std::vector<uint8_t> finish();

 private:
  // A call out of the way: registers are kept, but for the result.
  struct Call {
    Xbyak::Label from, back;
    std::array<int, 3> operands;  // registers, or -1
    int to, lanes;
    const LaneCall* function;
    uint32_t saved = 0;  // a bit for each register that holds something
  };

  struct Where {
    int reg = -1;
    int slot = -1;
  };

  bool in_mask_register(const Inst& inst) const;
  bool is_invariant(const Inst& inst) const;
  int pinned_register(const Inst& inst) const;
  std::optional<Xbyak::Address> home(int value);
  int take(Class c);
  void lock(Class c, int reg) { locked_[c] |= 1u << reg; }
  int fetch_index(int value);
  Xbyak::Xmm fetch(int value);
  Xbyak::Opmask fetch_mask(int value);
  Source source(int value);
  void release(int value);
  Xbyak::Xmm define(int value);
  Xbyak::Opmask define_mask(int value);
  void release_operands(const Inst& inst);
  bool last_use(int value) const;
  bool dies(int value) const;
  void become(int value, int i);
  bool is_zero(int value) const;

  void step(int i);
  void binary(const Inst& inst, int i);
  void fused(const Inst& inst, int i);
  void ternary(const Inst& inst, int i);
  void round_f16(const Inst& inst, int i);
  void shift(const Inst& inst, int i);
  void unary(const Inst& inst, int i);
  void quotient(const Inst& inst, int i);
  void multiply_high(const Inst& inst, int i);
  void compare(const Inst& inst, int i);
  void int_compare(const Inst& inst, int i);
  void permute(const Inst& inst, int i);
  void gather(const Inst& inst, int i);
  Call& add_call(const Inst& inst, std::array<int, 3> operands, int to);
  void call(const Inst& inst, int i);
  void correct(const Inst& inst, int i);
  void emit_calls();
  void select(const Inst& inst, int i);
  void mask_logic(const Inst& inst, int i);

  const Program& program_;
  IsaLevel level_;
  int bytes_;
  Xbyak::Label pool_;
  std::vector<size_t> frame_patches_;
  std::list<Call> calls_;
  int slots_ = 0;
  int pinned_ = 0;
  std::vector<int> constant_pins_;
  std::vector<std::pair<int, int>> home_pins_;

  // Of the block that is being emitted.
  const std::vector<Inst>* block_ = nullptr;
  std::vector<Where> where_;
  std::vector<int> next_;                        // the next use of each value
  std::vector<std::array<int, 4>> next_after_;   // of each operand, after its instruction
  std::array<std::array<int, 32>, 2> holder_{};  // the value of each register, or -1
  std::array<uint32_t, 2> locked_{};
  int now_ = 0;
};

}  // namespace spruce::cpu::x64
