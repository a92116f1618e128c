// SPDX-License-Identifier: Apache-2.0
// The function around a tiny program.
#pragma once

#include "spruce/core/cpu/x64/emitter.h"
#include "spruce/core/cpu/x64/tiny_lower.h"

namespace spruce::cpu::x64 {

using TinyFunction = void (*)(const void* const* in, void* const* out, int64_t length);

class TinyEmitter final : public Emitter {
 public:
  TinyEmitter(const TinyProgram& program, const fusion::TinyLoop* loop);

  std::vector<uint8_t> generate();

 private:
  void load(const Inst& inst, const Xbyak::Operand& to) override;
  void store(const Inst& inst, const Xbyak::Xmm& value) override;
  void fold(const Inst&, const Xbyak::Xmm&) override {}
  int home_slot(const Inst& inst) const override;

  /// Whether an input keeps its memory through the loop, and whether it is written there.
  bool invariant(int input) const { return loop_ != nullptr && input < loop_->consts; }
  bool carried(int input) const {
    return loop_ != nullptr && input >= loop_->consts && input < loop_->consts + loop_->carry;
  }
  bool sliced_output(int output) const { return loop_ != nullptr && output >= loop_->carry; }

  int element_bytes() const { return program_.wide ? 8 : 4; }
  void assign_pointers();
  void set_pointers();
  void advance_pointers();
  Xbyak::Reg64 base(size_t array);
  void fill_homes();
  void write_carry();
  void load_one(Dtype dtype, const Xbyak::Address& from, const Xbyak::Xmm& to);
  void lane_mask(const Xbyak::Xmm& to, int count);

  const TinyProgram& program_;
  const fusion::TinyLoop* loop_;
  std::vector<int> homes_;      // the slot of each load that has one
  std::vector<int> registers_;  // the pointer of each input, then of each output, or -1
  std::vector<int> pointer_slots_;
  Xbyak::Label mask_table_;
};

}  // namespace spruce::cpu::x64
