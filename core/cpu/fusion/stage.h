// SPDX-License-Identifier: Apache-2.0
// A stage: straight-line elementwise work over runs of elements that lie one after the other, with
// results that are stored, gathered in place, or folded into one accumulator. What fusion makes of
// the inner part of a group, and what is compiled to machine code where that is possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Values are numbered: the inputs first, then op i is value `inputs.size() + i`.
struct Stage {
  struct Input {
    Dtype dtype;
    bool scalar = false;  // one element stands for the whole run
    int64_t whole = 0;    // elements of an array that gathers read; 0 for others. Scalar too
    // The bits of a scalar that is always the same, where that is worth knowing: i32 and f32.
    std::optional<uint32_t> known = {};
  };
  struct Op {
    const Primitive* p;  // PrimitiveKind::kElementwise, one output, or gather of a whole input
    Params params;
    std::vector<int> in;
    Dtype out;
  };
  /// What becomes of a stored value: `out[j] = v[j]`, or `out[j] = out[j] op v[j]` for reductions
  /// over leading axes. Sums wrap in integers; max and min give NaN where one of the two is NaN.
  enum class Mode : uint8_t { kStore, kAdd, kMax, kMin };
  struct Output {
    int value;
    Mode mode = Mode::kStore;
  };
  enum class Kind : uint8_t { kSum, kMax, kMin, kProd };
  /// Folds the elements of a value into `*acc`, which holds what was gathered before. A scalar
  /// value counts once for each element of the run.
  struct Reduction {
    int value;
    Kind kind;
  };

  std::vector<Input> inputs;
  std::vector<Op> ops;
  std::vector<Output> outputs;
  std::vector<Reduction> reductions;
  int64_t longest = 0;  // elements of the longest run, as far as that is known

  Dtype dtype_of(int value) const {
    const size_t v = static_cast<size_t>(value);
    return v < inputs.size() ? inputs[v].dtype : ops[v - inputs.size()].out;
  }
};

/// Elements whose sum or product is taken in the value's own dtype, in several lanes, before it
/// joins the accumulator.
inline constexpr int64_t kStageBlock = 1024;

/// The dtype of a reduction's accumulator: sums and products of floats gather in f64, all else in
/// the dtype of the value (integers wrap).
inline Dtype accumulator_dtype(Dtype value, Stage::Kind kind) {
  const bool gathers = kind == Stage::Kind::kSum || kind == Stage::Kind::kProd;
  return gathers && is_floating(value) ? Dtype::kFloat64 : value;
}

/// A stage that can be run. Several threads may run it at once.
class StageKernel {
 public:
  virtual ~StageKernel() = default;
  /// Runs over n >= 0 elements. `in[i]` is n elements of input i (one if it is scalar, all of an
  /// array that gathers read), `out[k]` n
  /// elements of output k, `acc[r]` the accumulator of reduction r; bool is a byte that is 0 or 1.
  /// Pointers are aligned to their element only. Nothing outside of the n elements is read or
  /// written. `out[k]` may be `in[i]` itself if their elements have one size and input i is not
  /// scalar; otherwise memory does not overlap. The order in which a reduction adds depends on n
  /// alone, so a caller cuts runs by shapes alone.
  virtual void run(const void* const* in, void* const* out, void* const* acc, int64_t n,
                   void* workspace) const = 0;
  /// Bytes of `workspace`, which is aligned to 64.
  virtual size_t workspace_bytes() const { return 0; }
};

/// The portable kernel: one loop for each op, over tiles in workspace that stay in the first-level
/// cache.
std::unique_ptr<const StageKernel> make_stage_tape(const Stage& stage);

/// Machine code for this x86-64 processor, or for the given level, which it must have; null where
/// there is none (another processor, an op or a dtype without an emitter, no executable memory).
std::unique_ptr<const StageKernel> make_stage_x64(const Stage& stage, IsaLevel level = isa_level());

}  // namespace spruce::cpu
