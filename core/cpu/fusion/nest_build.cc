// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "spruce/core/cpu/fusion/nest_builder.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kShortRow = 64;      // shorter rows are worked on many at a time
constexpr int64_t kSmallBlock = 1024;  // elements of such a block, and where rows are put together
constexpr int64_t kRowBlock = 4096;    // elements of a block of longer rows
constexpr int64_t kPiece = 131072;     // elements that a reduction gathers in one piece, at least
constexpr int64_t kMostPieces = 16;
constexpr int64_t kMostGathered = 1 << 22;  // bytes of accumulators in all pieces
constexpr int kMostRepeated = 3;            // operations that a later stage does again

std::shared_ptr<const StageKernel> make_kernel(const Stage& stage) {
  std::shared_ptr<const StageKernel> kernel = make_stage_x64(stage);
  if (kernel == nullptr) kernel = make_stage_tape(stage);
  return kernel;
}

}  // namespace

// An axis outside of rows that all reductions are over becomes the one of rows, unless that one or
// the inner one is such already: what they join stays in the nearest cache. Of long rows only,
// since those of inputs then lie far from each other.
void NestBuilder::reduced_axis_inside(std::vector<int>& axes) const {
  constexpr int64_t kLongRow = 512;
  if (axes.size() < 3 || n_.inner_ < kLongRow) return;
  fusion::AxisSet by_all = p_.axes;
  for (const int e : p_.equations) {
    if (is_reduction(e)) by_all = by_all & reduced(e);
  }
  const auto end = axes.end() - 1;
  if (by_all == p_.axes || has(by_all, *end) || has(by_all, *(end - 1))) return;
  const auto found = std::find_if(axes.begin(), end, [&](int a) { return has(by_all, a); });
  if (found != end) std::rotate(found, found + 1, end);
}

void NestBuilder::choose_mode() {
  std::vector<int> axes;
  for (int a = 0; a < static_cast<int>(s_.space.sizes.size()); ++a) {
    if (has(p_.axes, a)) axes.push_back(a);
  }
  const auto size = [&](int axis) { return s_.space.sizes[static_cast<size_t>(axis)]; };
  if (!axes.empty()) n_.inner_ = size(axes.back());
  n_.tile_ = std::min(n_.inner_, kRowBlock);
  const bool in_pieces =
      std::any_of(p_.equations.begin(), p_.equations.end(), [&](int e) { return reads_pieces(e); });
  const bool by_rows = std::any_of(p_.equations.begin(), p_.equations.end(),
                                   [&](int e) { return is_reduction(e) && !is_cross_block(e); });
  if (axes.size() <= 1 && !by_rows) return;
  reduced_axis_inside(axes);
  if (axes.size() > 1) {
    row_axis_ = axes[axes.size() - 2];
    n_.rows_ = size(row_axis_);
    outer_axes_.assign(axes.begin(), axes.end() - 2);
  }
  for (const int a : outer_axes_) {
    n_.outer_.push_back(size(a));
    n_.outer_count_ *= size(a);
  }
  const bool joined =
      n_.inner_ < kShortRow && n_.rows_ > 1 && !s_.space.has_gaps(row_axis_, p_.inner());
  n_.mode_ = joined ? Mode::kContiguousRows : Mode::kRows;
  box_axis_ = row_axis_;
  if (joined && n_.rows_ * n_.inner_ < kShortRow && fusion::has_boxes(g_, s_, p_)) {
    // The axis of rows and the one outside are one.
    box_axis_ = outer_axes_.back();
    n_.box_rows_ = n_.rows_;
    n_.rows_ *= n_.outer_.back();
    n_.outer_count_ /= n_.outer_.back();
    n_.outer_.pop_back();
    outer_axes_.pop_back();
    const int64_t together = kSmallBlock / (n_.box_rows_ * n_.inner_);
    n_.block_ = std::min(n_.rows_, together * n_.box_rows_);
    return;
  }
  n_.block_ = std::max<int64_t>(1, (joined || in_pieces ? kSmallBlock : kRowBlock) / n_.inner_);
  if (!joined) n_.block_ = std::min(n_.block_, Nest::kMostRows);
  n_.block_ = std::min(n_.block_, n_.rows_);
  if (joined) {  // blocks of equal height, which take no more memory than they need
    const int64_t blocks = (n_.rows_ + n_.block_ - 1) / n_.block_;
    n_.block_ = (n_.rows_ + blocks - 1) / blocks;
  }
}

// A reduction of rows parts the stage in which its operand is computed from those that use its
// result. What a stage does not need itself is left to the first one that does.
void NestBuilder::choose_stages() {
  stage_.assign(g_.equations.size(), 0);
  std::vector<int> first_use(g_.avals.size(), INT32_MAX);
  last_use_.assign(g_.avals.size(), -1);
  again_.assign(g_.avals.size(), -1);
  for (const int e : p_.equations) {
    int at = 0;
    for (const ValueId x : eq(e).inputs) {
      const ValueId r = s_.root_of(x);
      if (!is_own(r)) continue;
      const bool next = form_of(e) == Form::kAll && form(s_.depends(r)) == Form::kByRow;
      at = std::max(at, stage(s_.producer[static_cast<size_t>(r)]) + (next ? 1 : 0));
    }
    stage(e) = at;
  }
  for (size_t k = p_.equations.size(); k-- > 0;) {
    const int e = p_.equations[k];
    const auto y = static_cast<size_t>(result(e));
    if (!is_reduction(e) && form_of(e) == Form::kAll && !has_home(result(e)) &&
        first_use[y] != INT32_MAX)
      stage(e) = std::max(stage(e), first_use[y]);
    stages_ = std::max(stages_, stage(e) + 1);
    for (const ValueId x : eq(e).inputs) {
      const auto r = static_cast<size_t>(s_.root_of(x));
      first_use[r] = std::min(first_use[r], stage(e));
      last_use_[r] = std::max(last_use_[r], stage(e));
    }
  }
}

// True if a later stage computes v anew rather than to load it.
bool NestBuilder::again(ValueId v) {
  int& count = again_[static_cast<size_t>(v)];
  if (count >= 0) return count > 0;
  count = 0;
  const int e = s_.producer[static_cast<size_t>(v)];
  if (!is_own(v) || is_reduction(e) || form_of(e) != Form::kAll || has_home(v) ||
      eq(e).primitive->cost != ElementCost::kLeast)
    return false;
  int total = 1;
  for (const ValueId x : eq(e).inputs) {
    const ValueId r = s_.root_of(x);
    if (!is_own(r) || form(s_.depends(r)) == Form::kByRow || has_home(r)) continue;
    if (!again(r)) return false;
    total += again_[static_cast<size_t>(r)];
  }
  if (total <= kMostRepeated) again_[static_cast<size_t>(v)] = total;
  return total <= kMostRepeated;
}

bool NestBuilder::read_later(ValueId v) {
  return last_use_[static_cast<size_t>(v)] > stage(s_.producer[static_cast<size_t>(v)]) &&
         !again(v);
}

Nest::Entry NestBuilder::laid_out(ValueId v, int64_t size) const {
  Entry e;
  e.inner = s_.space.stride(v, p_.inner()) * size;
  e.row = s_.space.stride(v, row_axis_) * size;
  e.block = s_.space.stride(v, box_axis_) * size;
  for (const int a : outer_axes_) e.outer.push_back(s_.space.stride(v, a) * size);
  return e;
}

Nest::Entry NestBuilder::home_entry(ValueId v) const {
  const Storage& storage = storages_[static_cast<size_t>(v)];
  Entry e = laid_out(v, bytes(v));
  e.base = storage.kind == Storage::Kind::kInput      ? Entry::Base::kInput
           : storage.kind == Storage::Kind::kConstant ? Entry::Base::kConstant
           : storage.kind == Storage::Kind::kOutput   ? Entry::Base::kOutput
                                                      : Entry::Base::kWorkspace;
  e.at = storage.at;
  e.data = storage.data;
  e.offset = storage.offset;
  return e;
}

// Memory of the thread for `rows` rows of elements of that size; where a row has one element, it
// stands for all of the row.
Nest::Entry NestBuilder::local_entry(int64_t rows, int64_t count, int64_t size) {
  Entry e;
  e.at = local(rows * count * size);
  e.inner = count == 1 ? 0 : size;
  e.row = rows == 1 ? 0 : count * size;
  return e;
}

// A value that stands in pieces, once for all that read it.
Nest::Entry NestBuilder::pieced_entry(ValueId v) {
  const auto [it, added] = places_.try_emplace(v);
  if (!added) return it->second;
  const fusion::AxisSet depends = s_.depends(v);
  const int inner = has(depends, p_.inner()) ? p_.inner() : -1,
            row = has(depends, row_axis_) ? row_axis_ : -1;
  PiecedRows made(s_.space.pieces.at(v), storages_, {inner, row, outer_axes_}, bytes(v));
  made.dense = n_.mode_ == Mode::kContiguousRows || form(depends) == Form::kByRow;
  const int64_t rows = row >= 0 ? n_.block_ : 1, n = inner < 0                 ? 1
                                                     : n_.mode_ == Mode::kFlat ? n_.tile_
                                                                               : n_.inner_;
  if (made.needs_buffer(rows, n)) made.buffer = local(rows * n * made.size);
  Entry& e = it->second;
  e.base = Entry::Base::kPieced;
  e.at = n_.pieced_.size();
  e.inner = inner >= 0 ? made.size : 0;
  e.row = row >= 0 ? n * made.size : 0;
  n_.pieced_.push_back(std::move(made));
  return e;
}

Nest::Entry NestBuilder::place(ValueId v) {
  if (is_in_pieces(v)) return pieced_entry(v);
  if (has_home(v)) return home_entry(v);
  const auto [it, added] = places_.try_emplace(v);
  if (added) {
    const bool all = form(s_.depends(v)) == Form::kAll;
    it->second = local_entry(n_.block_, all ? n_.inner_ : 1, bytes(v));
  }
  return it->second;
}

// A value as a whole block of joined rows sees it: spread where it has some of the axes only.
Nest::Entry NestBuilder::joined(ValueId v, bool* scalar) {
  const BoxSteps steps{s_.space.stride(v, box_axis_), s_.space.stride(v, row_axis_),
                       s_.space.stride(v, p_.inner())};
  const Entry from = place(v);
  *scalar = steps.is_one();
  if (*scalar || steps.is_dense({n_.box_rows_, n_.inner_})) return from;
  const auto [it, added] = spread_.try_emplace(v);
  if (!added) return it->second;
  Step step{};
  step.kind = Step::Kind::kSpread;
  step.dtype = dtype(v);
  step.count = n_.inner_;
  step.steps = steps;
  const Entry to = it->second = local_entry(n_.block_, n_.inner_, bytes(v));
  add_step(std::move(step), {from, to});
  return to;
}

void NestBuilder::add_step(Step step, std::vector<Entry> entries) {
  step.first = n_.entries_.size();
  if (step.outs == 0) step.outs = step.first + 1;
  if (step.accs == 0) step.accs = step.first + entries.size();
  for (Entry& e : entries) {
    e.step = static_cast<int>(n_.steps_.size());
    if (e.base == Entry::Base::kPieced)
      e.same = first_read_.try_emplace(e.at, static_cast<int>(n_.entries_.size())).first->second;
    n_.entries_.push_back(std::move(e));
  }
  step.end = n_.entries_.size();
  for (size_t i = step.outs; i < step.end; ++i) n_.entries_[i].writes = true;
  n_.steps_.push_back(std::move(step));
}

std::optional<uint32_t> NestBuilder::known_bits(const Entry& e, Dtype dtype, bool scalar) {
  if (!scalar || e.base != Entry::Base::kConstant ||
      (dtype != Dtype::kInt32 && dtype != Dtype::kFloat32))
    return {};
  uint32_t value;
  std::memcpy(&value, static_cast<const char*>(e.data) + e.offset, sizeof value);
  return value;
}

int NestBuilder::use(Draft& d, ValueId v) {
  const auto found = d.values.find(v);
  if (found != d.values.end()) return found->second;
  if (d.form == Form::kAll && is_own(v) && form(s_.depends(v)) == Form::kAll && again(v))
    return apply(d, s_.producer[static_cast<size_t>(v)]);
  bool scalar = false;
  Entry from;
  if (d.form == Form::kAll && n_.mode_ == Mode::kContiguousRows) {
    from = joined(v, &scalar);
  } else {
    const int along = d.form == Form::kAll ? p_.inner() : row_axis_;
    scalar = along >= 0 && !has(s_.depends(v), along);
    from = place(v);
  }
  // One that is a scalar along the inner axis may still differ from row to row.
  const bool same_everywhere = scalar && s_.depends(v) == fusion::AxisSet{0};
  d.stage.inputs.push_back({dtype(v), scalar, 0, known_bits(from, dtype(v), same_everywhere)});
  d.in.push_back(std::move(from));
  return d.values[v] = -static_cast<int>(d.stage.inputs.size());
}

// An array that gathers read at any place.
int NestBuilder::use_whole(Draft& d, ValueId v) {
  const auto [it, added] = d.values.try_emplace(v);
  if (!added) return it->second;
  d.stage.inputs.push_back({dtype(v), true, g_.avals[static_cast<size_t>(v)].numel()});
  d.in.push_back(home_entry(v));
  return it->second = -static_cast<int>(d.stage.inputs.size());
}

int NestBuilder::apply(Draft& d, int e) {
  Stage::Op op{eq(e).primitive, eq(e).params, {}, dtype(result(e))};
  for (const ValueId x : eq(e).inputs) {
    const ValueId r = s_.root_of(x);
    op.in.push_back(s_.space.whole[static_cast<size_t>(r)] ? use_whole(d, r) : use(d, r));
  }
  d.stage.ops.push_back(std::move(op));
  return d.values[result(e)] = static_cast<int>(d.stage.ops.size()) - 1;
}

void NestBuilder::store(Draft& d, int value, Entry to, Stage::Mode mode) {
  d.stage.outputs.push_back({value, mode});
  d.out.push_back(std::move(to));
}

void NestBuilder::add_stage(Draft& d, Step::Kind kind) {
  if (!d.stage.outputs.empty() || !d.stage.reductions.empty()) {
    for (Stage::Op& op : d.stage.ops) {
      for (int& v : op.in) v = d.value(v);
    }
    for (auto& o : d.stage.outputs) o.value = d.value(o.value);
    for (auto& r : d.stage.reductions) r.value = d.value(r.value);
    Step step{};
    step.kind = kind;
    d.stage.longest = n_.pieced_.empty() ? n_.inner_ : n_.tile_;
    step.kernel = make_kernel(d.stage);
    workspace_ = std::max(workspace_, step.kernel->workspace_bytes());
    step.outs = n_.entries_.size() + d.in.size();
    step.accs = step.outs + d.out.size();
    std::vector<Entry> all = std::move(d.in);
    for (auto* part : {&d.out, &d.acc}) {
      for (Entry& e : *part) all.push_back(std::move(e));
    }
    add_step(std::move(step), std::move(all));
  }
  for (auto& [step, entries] : after_) add_step(std::move(step), std::move(entries));
  after_.clear();
}

void NestBuilder::build_stage(int at, Form form) {
  Draft d{form, {}, {}, {}, {}, {}};
  for (const int e : p_.equations) {
    if (stage(e) != at || form_of(e) != form) continue;
    if (is_reduction(e)) {
      reduce(d, e);
      continue;
    }
    const int value = apply(d, e);
    const ValueId y = result(e);
    if (has_home(y) || form == Form::kByRow || read_later(y)) store(d, value, place(y));
  }
  const Step::Kind all =
      n_.mode_ == Mode::kContiguousRows ? Step::Kind::kStageOfBlock : Step::Kind::kStage;
  add_stage(d, form == Form::kAll ? all : Step::Kind::kRowValues);
}

void NestBuilder::build() {
  choose_mode();
  choose_stages();
  for (int at = 0; at < stages_; ++at) {
    build_stage(at, Form::kAll);
    if (n_.mode_ != Mode::kFlat) build_stage(at, Form::kByRow);
  }
  n_.kernel_workspace_ = local(static_cast<int64_t>(workspace_));
  n_.pointers_ = local(static_cast<int64_t>(3 * n_.entries_.size() * sizeof(char*)));
  for (const Entry& e : n_.entries_) {
    n_.row_steps_.push_back(e.row);
    n_.block_steps_.push_back(e.block * (n_.block_ / n_.box_rows_));
  }
  if (n_.accumulated_.empty()) return;
  const int64_t wanted = n_.outer_count_ * n_.rows_ * n_.inner_ / kPiece;
  n_.apart_ =
      !outer_axes_.empty() && std::none_of(p_.equations.begin(), p_.equations.end(), [&](int e) {
        return is_reduction(e) && is_cross_block(e) && has(reduced(e), outer_axes_[0]);
      });
  const int64_t most =
      n_.apart_ ? n_.outer_[0]
                : std::min(kMostGathered / static_cast<int64_t>(n_.accumulated_bytes_), n_.units());
  n_.pieces_ = std::max<int64_t>(1, std::min({wanted, kMostPieces, most}));
}

Nest::Nest(const NestSource& source, int phase) { NestBuilder(*this, source, phase).build(); }

}  // namespace spruce::cpu
