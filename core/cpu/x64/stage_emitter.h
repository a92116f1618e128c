// SPDX-License-Identifier: Apache-2.0
// The loop over a stage's elements.
#pragma once

#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/cpu/x64/emitter.h"

namespace spruce::cpu::x64 {

/// Runs elements begin to end. Vectors of the reductions' lanes are left in `lanes`, 64 bytes each.
using StageLoop = void (*)(const void* const* in, void* const* out, void* lanes, int64_t begin,
                           int64_t end);

/// Blocks of kStageBlock elements of a window with reductions. Its loop leaves the lanes of one
/// block after the other, each those of all reductions.
inline constexpr int kWindowBlocks = 32;

/// What a stage becomes: one vector's worth of instructions.
struct StageProgram {
  Program program;
  std::vector<int> identities;  // the constant that each reduction starts from
  bool wide = false;
};

class StageEmitter final : public Emitter {
 public:
  StageEmitter(const Stage& stage, const StageProgram& program, IsaLevel level);

  /// Position-independent code; the loop is at its beginning. On AVX2 it takes whole vectors only,
  /// and the code at `tail_offset` one vector of which end - begin lanes count.
  std::vector<uint8_t> generate();
  size_t tail_offset() const { return tail_offset_; }
  /// The loop over windows (of reductions: one), which fetches from several pages at once; 0 where
  /// runs are too short to gain by it.
  size_t window_offset() const { return window_offset_; }
  int64_t window_elements() const { return segments_ * segment_elements_; }

 private:
  void load(const Inst& inst, const Xbyak::Operand& to) override;
  void store(const Inst& inst, const Xbyak::Xmm& value) override;
  void fold(const Inst& inst, const Xbyak::Xmm& value) override;
  void point_to_array(const Inst& inst) override { mov(rdx, ptr[rdi + inst.index * 8]); }
  int home_slot(const Inst& inst) const override;
  bool mask_input(const Inst& inst) const override;

  const Stage::Input& input(const Inst& inst) const {
    return stage_.inputs[static_cast<size_t>(inst.index)];
  }
  bool scalar(const Inst& inst) const { return inst.op == Op::kInput && input(inst).scalar; }
  std::vector<Inst> unrolled(int copies) const;
  void choose_unrolling();
  void pin_invariants(const std::vector<Inst>& block, int room);
  void begin_function();
  void function(bool tail_only);
  void windows();
  void window_of_reductions();
  bool gathers() const;
  void assign_pointers();
  void load_pointers();
  void load_scalars();
  Xbyak::Address element(bool output, int index, Dtype dtype, int copy);
  void load_bools(const Xbyak::Address& from, const Xbyak::Operand& to);
  void store_bools(const Xbyak::Address& to, const Xbyak::Xmm& value);
  void load_halves(const Xbyak::Address& from, const Xbyak::Xmm& to, Dtype dtype);
  void store_bytes(const Xbyak::Address& to, const Xbyak::Xmm& value, Dtype dtype);
  void store_halves(const Xbyak::Address& to, const Xbyak::Xmm& value, Dtype dtype);
  void join(const Xbyak::Xmm& to, const Xbyak::Xmm& held, const Xbyak::Xmm& value, Stage::Kind kind,
            Dtype dtype);
  void fold_into(int accumulator, int reduction, const Xbyak::Xmm& value);
  void start_accumulators();
  void finish_accumulators(int at);  // `at` bytes into the lanes
  void make_tail_mask();
  void choose_segments();

  const Stage& stage_;
  const StageProgram& program_;
  int lanes_;
  int copies_ = 1;
  bool masked_ = false;
  std::vector<int> pointers_;          // the register of each input, then of each output, or -1
  std::vector<int> scalar_slots_;      // the home of each scalar input
  std::vector<int> scalar_registers_;  // or -1
  std::vector<int> accumulators_;      // the register of accumulator [reduction, copy], or -1
  std::vector<int> accumulator_slots_;
  int lanes_slot_ = -1, tail_slot_ = -1;
  int segments_ = 1;                // parts of a long run between which iterations alternate
  int64_t segment_elements_ = 0;    // a multiple of those of an iteration
  int left_slot_ = -1;              // two counters of loops
  std::vector<int> segment_slots_;  // of accumulator [segment, reduction, copy] of a window
  Xbyak::Label tail_table_;
  size_t tail_offset_ = 0, window_offset_ = 0;
};

}  // namespace spruce::cpu::x64
