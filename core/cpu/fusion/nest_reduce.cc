// SPDX-License-Identifier: Apache-2.0
// How a nest takes in the elements of a reduction: within a stage, or in steps after it.
#include <optional>

#include "spruce/core/cpu/fusion/gather.h"
#include "spruce/core/cpu/fusion/nest_builder.h"
#include "spruce/core/rules/shape.h"

namespace spruce::cpu {
namespace {

// How a stage joins the elements of a row to what it has of the rows before, where it can.
std::optional<Stage::Mode> joining_mode(Stage::Kind kind) {
  switch (kind) {
    case Stage::Kind::kSum:
      return Stage::Mode::kAdd;
    case Stage::Kind::kMax:
      return Stage::Mode::kMax;
    case Stage::Kind::kMin:
      return Stage::Mode::kMin;
    default:
      return {};
  }
}

// Whether it joins them in f32, and those parts to accumulators of another dtype from time to time.
bool joins_in_f32(Stage::Kind kind, Dtype dtype) {
  const bool sum = kind == Stage::Kind::kSum;
  return joining_mode(kind) && (is_half(dtype) || (sum && dtype == Dtype::kFloat32));
}

// Whether it joins them to the accumulators.
bool joins_at_once(Stage::Kind kind, Dtype dtype) {
  return joining_mode(kind) && !is_half(dtype) && !is_bool(dtype) &&
         accumulator_dtype(dtype, kind) == dtype;
}

}  // namespace

// The accumulators of a reduction that the whole nest takes part in.
Nest::Entry NestBuilder::accumulated(int e) {
  const ValueId y = result(e);
  const Stage::Kind kind = reduction_kind(eq(e).primitive->reduces_by());
  const int64_t n = s_.space.numel(s_.depends(y)),
                size = size_of(accumulator_dtype(dtype(y), kind));
  Entry to = laid_out(y, size);
  to.base = Entry::Base::kAccumulated;
  to.at = n_.accumulated_bytes_;
  n_.accumulated_.push_back({kind, dtype(y), to.at, n, storages_[static_cast<size_t>(y)]});
  n_.accumulated_bytes_ += static_cast<size_t>((n * size + 63) / 64 * 64);
  return to;
}

int NestBuilder::widened(Draft& d, int value) {
  d.stage.ops.push_back({&convert_element_type_p,
                         Params::make(ConvertParams{Dtype::kFloat32, false}),
                         {value},
                         Dtype::kFloat32});
  return static_cast<int>(d.stage.ops.size()) - 1;
}

void NestBuilder::reduce(Draft& d, int e) {
  const ValueId x = s_.root_of(eq(e).inputs[0]), y = result(e);
  const int value = use(d, x);
  Step step{};
  step.reduction = reduction_kind(eq(e).primitive->reduces_by());
  step.dtype = dtype(x);
  if (d.form == Form::kByRow) {
    Entry to = accumulated(e);
    if (row_axis_ >= 0 && has(reduced(e), row_axis_)) {
      d.stage.reductions.push_back({value, step.reduction});
      d.acc.push_back(to);
      return;
    }
    if (joins_at_once(step.reduction, dtype(x)) && to.row == bytes(x))
      return store(d, value, to, *joining_mode(step.reduction));
    Entry elements = local_entry(n_.block_, 1, bytes(x));
    store(d, value, elements);
    step.kind = Step::Kind::kAccumulate;
    step.count = 1;
    after_.push_back({step, {elements, to}});
    return;
  }
  const bool of_row = p_.axes == 0 || has(reduced(e), p_.inner()),
             of_rows = has(reduced(e), row_axis_);
  if (n_.mode_ == Mode::kContiguousRows)
    return reduce_contiguous(d, e, step, value, of_row, of_rows);
  if (of_row) {
    d.stage.reductions.push_back({value, step.reduction});
    if (is_cross_block(e)) {
      d.acc.push_back(accumulated(e));
      return;
    }
    const Entry acc =
        local_entry(n_.block_, 1, size_of(accumulator_dtype(dtype(x), step.reduction)));
    d.acc.push_back(acc);
    step.kind = Step::Kind::kStart;
    add_step(step, {acc});
    step.kind = Step::Kind::kFinish;
    after_.push_back({step, {acc, place(y)}});
  } else if (of_rows && joins_in_f32(step.reduction, dtype(x))) {
    step.wide = is_half(dtype(x));
    const Entry parts = local_entry(1, n_.inner_, 4);
    store(d, step.wide ? widened(d, value) : value, parts, *joining_mode(step.reduction));
    step.kind = Step::Kind::kAddToAccumulators;
    step.count = n_.inner_;
    n_.rows_between_sums_ = Nest::kMostRows;
    after_.push_back({step, {parts, accumulated(e)}});
  } else if (joins_at_once(step.reduction, dtype(x))) {
    store(d, value, accumulated(e), *joining_mode(step.reduction));
  } else {
    const Entry elements = local_entry(n_.block_, n_.inner_, bytes(x));
    store(d, value, elements);
    step.kind = Step::Kind::kAccumulate;
    step.count = n_.inner_;
    step.stride = 1;
    after_.push_back({step, {elements, accumulated(e)}});
  }
}

// The elements of the block are stored, and the loops of the reduction take them from there.
void NestBuilder::reduce_contiguous(Draft& d, int e, Step step, int value, bool of_row,
                                    bool of_rows) {
  const ValueId x = s_.root_of(eq(e).inputs[0]), y = result(e);
  if (!of_row && !of_rows && joins_at_once(step.reduction, dtype(x))) {
    const Entry to = laid_out(y, bytes(x));
    if (to.inner == bytes(x) && to.row == n_.inner_ * bytes(x))
      return store(d, value, accumulated(e), *joining_mode(step.reduction));
  }
  step.wide = is_half(dtype(x));
  const int64_t size = step.wide ? 4 : bytes(x);
  Entry elements = local_entry(n_.block_, n_.inner_, size);
  store(d, step.wide ? widened(d, value) : value, elements);
  if (of_row || of_rows) {
    Step fold = step;
    fold.kind = of_row ? Step::Kind::kFoldRows : Step::Kind::kFoldColumns;
    fold.loop = eq(e).primitive->cpu.reduce_loops(step.wide ? Dtype::kFloat32 : dtype(x)).first;
    fold.count = n_.inner_;
    if (!is_cross_block(e) && !step.wide) {
      after_.push_back({fold, {elements, place(y)}});
      return;
    }
    Entry folded = of_row ? local_entry(n_.block_, 1, size) : local_entry(1, n_.inner_, size);
    after_.push_back({fold, {elements, folded}});
    elements = folded;
  }
  if (!is_cross_block(e)) {
    step.kind = Step::Kind::kConvertTo16Bit;
    after_.push_back({step, {elements, place(y)}});
    return;
  }
  step.kind = Step::Kind::kAccumulate;
  step.count = of_row ? 1 : n_.inner_;
  step.stride = of_row ? 0 : 1;
  step.once = !of_row && of_rows;
  after_.push_back({step, {elements, accumulated(e)}});
}

}  // namespace spruce::cpu
