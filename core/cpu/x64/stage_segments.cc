// SPDX-License-Identifier: Apache-2.0
// Runs that no cache holds, over few arrays, are cut into segments, and iterations of the loop
// alternate between them.
#include "spruce/core/cpu/x64/stage_emitter.h"

namespace spruce::cpu::x64 {
namespace {

constexpr int64_t kLongRun = 32 << 20;  // bytes of all arrays
constexpr int kMostArrays = 5, kSegments = 4;
constexpr int64_t kSegmentElements = 8192;

}  // namespace

void StageEmitter::choose_segments() {
  int arrays = 0;
  int64_t bytes = 0;  // of one element of each
  const auto count = [&](Dtype dtype) { ++arrays, bytes += size_of(dtype); };
  for (const Stage::Output& o : stage_.outputs) count(stage_.dtype_of(o.value));
  for (const Stage::Input& in : stage_.inputs) {
    if (in.whole > 0) return;
    if (!in.scalar) count(in.dtype);
  }
  if (arrays > kMostArrays || stage_.longest * bytes < kLongRun) return;
  segments_ = kSegments;
  left_slot_ = new_slot();
  if (!stage_.reductions.empty()) {
    segment_elements_ = kWindowBlocks / segments_ * kStageBlock;
    for (int s = 0; s < segments_; ++s) {
      for (size_t i = 0; i < accumulators_.size(); ++i) segment_slots_.push_back(new_slot());
    }
    return;
  }
  const int64_t iteration = copies_ * lanes_;
  segment_elements_ =
      (kSegmentElements / iteration + 1) * iteration;  // no multiple of the size of a page
}

// Some processors fetch ahead within a page only, and few arrays alone are too few pages at once
// for the rate of their memory; others are slower with segments. The kernel finds out which this
// is.
void StageEmitter::windows() {
  const int iteration = copies_ * lanes_, all = static_cast<int>(segments_ * segment_elements_);
  const Xbyak::Address segments_left = dword[rsp + left_slot_ * 64],
                       iterations_left = dword[rsp + left_slot_ * 64 + 4];
  begin_function();
  Xbyak::Label window, next_iteration, next_segment;
  L(window);
  mov(iterations_left, static_cast<uint32_t>(segment_elements_ / iteration));
  L(next_iteration);
  mov(segments_left, static_cast<uint32_t>(segments_));
  L(next_segment);
  emit(unrolled(copies_));
  add(rax, static_cast<uint32_t>(segment_elements_));
  dec(segments_left);
  jnz(next_segment, T_NEAR);
  sub(rax, static_cast<uint32_t>(all - iteration));
  dec(iterations_left);
  jnz(next_iteration, T_NEAR);
  add(rax, static_cast<uint32_t>(all - segment_elements_));
  cmp(rax, rcx);
  jl(window, T_NEAR);
  leave();
}

// The same for reductions: each segment has accumulators of its own, which are in registers during
// its iterations only, and the lanes of each block are stored.
void StageEmitter::window_of_reductions() {
  const int iteration = copies_ * lanes_, segment = static_cast<int>(segment_elements_);
  const int blocks = kWindowBlocks / segments_;
  const int lanes_bytes = static_cast<int>(stage_.reductions.size()) * 64;
  const Xbyak::Address blocks_left = dword[rsp + left_slot_ * 64],
                       iterations_left = dword[rsp + left_slot_ * 64 + 4];
  const std::vector<int> slots = accumulator_slots_;
  const size_t count = accumulators_.size();
  const auto enter_segment = [&](int s) {
    const auto first = segment_slots_.begin() + static_cast<std::ptrdiff_t>(count) * s;
    accumulator_slots_.assign(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const auto move_accumulators = [&](bool to_memory) {
    for (size_t i = 0; i < count; ++i) {
      if (accumulators_[i] < 0) continue;
      const Xbyak::Xmm x = vec(accumulators_[i]);
      to_memory ? vmovups(slot(accumulator_slots_[i]), x) : vmovups(x, slot(accumulator_slots_[i]));
    }
  };
  begin_function();
  Xbyak::Label next_block, next_iteration;
  mov(blocks_left, static_cast<uint32_t>(blocks));
  L(next_block);
  for (int s = 0; s < segments_; ++s) {
    enter_segment(s);
    start_accumulators();
    move_accumulators(true);
  }
  mov(iterations_left, static_cast<uint32_t>(kStageBlock / iteration));
  L(next_iteration);
  for (int s = 0; s < segments_; ++s) {
    enter_segment(s);
    move_accumulators(false);
    emit(unrolled(copies_));
    move_accumulators(true);
    add(rax, static_cast<uint32_t>(segment));
  }
  sub(rax, static_cast<uint32_t>(segments_ * segment - iteration));
  dec(iterations_left);
  jnz(next_iteration, T_NEAR);
  for (int s = 0; s < segments_; ++s) {
    enter_segment(s);
    move_accumulators(false);
    finish_accumulators(s * blocks * lanes_bytes);
  }
  add(qword[rsp + lanes_slot_ * 64], static_cast<uint32_t>(lanes_bytes));
  dec(blocks_left);
  jnz(next_block, T_NEAR);
  leave();
  accumulator_slots_ = slots;
}

}  // namespace spruce::cpu::x64
