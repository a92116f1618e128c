// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/nest.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/fusion/gather.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own

}  // namespace

char* Nest::base(const Entry& e, const NestMemory& m, char* accumulated, char* thread) const {
  switch (e.base) {
    case Entry::Base::kInput:
      return static_cast<char*>(m.in[e.at].data) + e.offset;
    case Entry::Base::kConstant:
      return static_cast<char*>(const_cast<void*>(e.data)) + e.offset;
    case Entry::Base::kOutput:
      return static_cast<char*>(m.out[e.at].data) + e.offset;
    case Entry::Base::kWorkspace:
      return m.workspace + e.at;
    case Entry::Base::kAccumulated:
      return accumulated + e.at;
    case Entry::Base::kPieced:
      return nullptr;  // place_pieces says
    default:
      return thread + e.at;
  }
}

// Steps that are neither a stage nor bound to certain rows.
void Nest::run_step(const Step& s, const Pointers& p, int64_t rows) const {
  char *from = p.at[s.first], *to = p.at[s.first + 1];
  const int64_t row = p.row_steps[s.first];
  switch (s.kind) {
    case Step::Kind::kFinish:
      gather_finish(s.reduction, s.dtype, from, to, rows);
      break;
    case Step::Kind::kFoldRows:
      s.loop(from, to, rows, s.count, 1, 1);
      break;
    case Step::Kind::kFoldColumns:
      s.loop(from, to, 1, rows, s.count, s.count);
      break;
    case Step::Kind::kConvertTo16Bit:
      if (s.dtype == Dtype::kFloat16)
        narrow(reinterpret_cast<const float*>(from), reinterpret_cast<Float16*>(to), rows);
      else
        narrow(reinterpret_cast<const float*>(from), reinterpret_cast<Bfloat16*>(to), rows);
      break;
    case Step::Kind::kSpread:
      spread_boxes(from, s.steps, {box_rows_, s.count}, size_of(s.dtype), rows / box_rows_, to);
      break;
    case Step::Kind::kAccumulate: {
      const int64_t to_row = p.row_steps[s.first + 1];
      const int64_t size = size_of(s.wide ? Dtype::kFloat32 : s.dtype),
                    to_size = size_of(accumulator_dtype(s.dtype, s.reduction));
      // Rows that lie one after the other, here and there, or of which all have one accumulator.
      if (!s.once && row == s.count * size) {
        const bool dense = s.stride == 1 && to_row == s.count * to_size;
        if (dense || s.count == 1) {
          gather(s.reduction, s.dtype, s.wide, from, to, rows * s.count,
                 dense ? 1 : to_row / to_size);
          break;
        }
      }
      for (int64_t r = 0; r < (s.once ? 1 : rows); ++r)
        gather(s.reduction, s.dtype, s.wide, from + r * row, to + r * to_row, s.count, s.stride);
      break;
    }
    default:
      break;
  }
}

// Joins the f32 parts of columns to their accumulators, or throws them away, and begins anew.
void Nest::add_to_accumulators(char** at, bool join) const {
  for (const Step& s : steps_) {
    if (s.kind != Step::Kind::kAddToAccumulators) continue;
    float* const parts = reinterpret_cast<float*>(at[s.first]);
    if (join) gather(s.reduction, s.dtype, s.wide, parts, at[s.first + 1], s.count, 1);
    std::fill_n(parts, s.count, gather_identity(s.reduction));
  }
}

void Nest::run_block(const Pointers& p, char* thread, int64_t rows, bool first) const {
  char* workspace = thread + kernel_workspace_;
  char **at = p.at, **now = p.now;
  for (const Step& s : steps_) {
    switch (s.kind) {
      case Step::Kind::kStage: {
        for (size_t i = s.first; i < s.end; ++i) now[i] = at[i];
        for (int64_t r = 0;;) {
          s.kernel->run(reinterpret_cast<const void* const*>(now + s.first),
                        reinterpret_cast<void* const*>(now + s.outs),
                        reinterpret_cast<void* const*>(now + s.accs), inner_, workspace);
          if (++r == rows) break;
          for (size_t i = s.first; i < s.end; ++i) now[i] += p.row_steps[i];
        }
        break;
      }
      case Step::Kind::kStageOfBlock:
      case Step::Kind::kRowValues:
        s.kernel->run(reinterpret_cast<const void* const*>(at + s.first),
                      reinterpret_cast<void* const*>(at + s.outs),
                      reinterpret_cast<void* const*>(at + s.accs),
                      s.kind == Step::Kind::kStageOfBlock ? rows * inner_ : rows, workspace);
        break;
      case Step::Kind::kStart:
        gather_start(s.reduction, s.dtype, at[s.first], rows);
        break;
      case Step::Kind::kSpread:
        // What all boxes have alike is there until outer axes move on.
        if (s.steps.box != 0)
          run_step(s, p, rows);
        else if (first)
          run_step(s, p, block_);
        break;
      case Step::Kind::kAddToAccumulators:
        break;
      default:
        run_step(s, p, rows);
    }
  }
}

Nest::Pointers Nest::pointers(char* thread) const {
  const size_t entries = entries_.size();
  char** at = reinterpret_cast<char**>(thread + pointers_);
  if (pieced_.empty()) return {at, at + entries, row_steps_.data(), nullptr};
  auto* const own = reinterpret_cast<int64_t*>(at + 2 * entries);
  std::copy(row_steps_.begin(), row_steps_.end(), own);
  return {at, at + entries, own, own};
}

void Nest::place_pieces(const Pointers& p, const NestMemory& m, char* thread,
                        const PiecedRows::Block& block) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    if (e.base != Entry::Base::kPieced) continue;
    if (const auto first = static_cast<size_t>(e.same); first != i) {
      p.at[i] = p.at[first];
      p.own_row_steps[i] = p.own_row_steps[first];
      continue;
    }
    PiecedRows::Block part = block;
    if (e.inner == 0) part.first = 0, part.n = 1;
    if (e.row == 0) part.row = 0, part.rows = 1;
    p.at[i] = pieced_[e.at].place(part, m.in, thread, &p.own_row_steps[i]);
    if (e.row == 0) p.own_row_steps[i] = 0;
  }
}

// One stage over elements of the only row.
void Nest::run_flat(const NestMemory& m, char* accumulated, char* thread, int64_t begin,
                    int64_t end) const {
  const Pointers p = pointers(thread);
  const int64_t tile = pieced_.empty() ? end - begin : tile_;
  for (; begin < end; begin += tile) {
    const int64_t n = std::min(tile, end - begin);
    for (size_t i = 0; i < entries_.size(); ++i)
      p.at[i] = base(entries_[i], m, accumulated, thread) + begin * entries_[i].inner;
    if (!pieced_.empty()) place_pieces(p, m, thread, {nullptr, 0, 1, begin, n});
    for (const Step& s : steps_) {
      s.kernel->run(reinterpret_cast<const void* const*>(p.at + s.first),
                    reinterpret_cast<void* const*>(p.at + s.outs),
                    reinterpret_cast<void* const*>(p.at + s.accs), n, thread + kernel_workspace_);
    }
  }
}

void Nest::run_range(const NestMemory& m, char* accumulated, char* thread, int64_t begin,
                     int64_t end) const {
  if (mode_ == Mode::kFlat) return run_flat(m, accumulated, thread, begin, end);
  const Pointers p = pointers(thread);
  char** at = p.at;
  const size_t entries = entries_.size();
  const int64_t blocks = (rows_ + block_ - 1) / block_;
  int64_t b = begin % blocks, summed = 0;
  int64_t outer[fusion::kMostAxes] = {};
  bool first = true;
  for (int64_t unit = begin; unit < end; ++unit) {
    if (first || b == blocks) {
      if (summed > 0) add_to_accumulators(at, true);
      summed = 0;
      const bool anew = !first;
      if (b == blocks) b = 0;
      int64_t o = unit / blocks;
      for (size_t k = outer_.size(); k-- > 0; o /= outer_[k]) outer[k] = o % outer_[k];
      for (size_t i = 0; i < entries; ++i) {
        const Entry& e = entries_[i];
        at[i] = base(e, m, accumulated, thread) + b * block_steps_[i];
        for (size_t k = 0; k < e.outer.size(); ++k) at[i] += outer[k] * e.outer[k];
      }
      if (!anew && rows_between_sums_ > 0) add_to_accumulators(at, false);
      first = true;
    }
    const int64_t rows = std::min(block_, rows_ - b * block_);
    if (!pieced_.empty()) place_pieces(p, m, thread, {outer, b * block_, rows, 0, inner_});
    if (rows_between_sums_ > 0) {
      if (summed + rows > rows_between_sums_) {
        add_to_accumulators(at, true);
        summed = 0;
      }
      summed += rows;
    }
    run_block(p, thread, rows, first);
    first = false;
    for (size_t i = 0; i < entries; ++i) at[i] += block_steps_[i];
    ++b;
  }
  if (summed > 0) add_to_accumulators(at, true);
}

void Nest::run(const NestMemory& m, char* shared, char* thread) const {
  const int64_t all = units();
  const auto on_thread = [&](char* accumulated, int64_t begin, int64_t end, bool whole) {
    if (whole) {
      run_range(m, accumulated, thread, begin, end);
    } else {
      const Workspace own(local_bytes_);
      run_range(m, accumulated, own.as<char>(), begin, end);
    }
  };
  const int64_t per_unit = mode_ == Mode::kFlat ? 1 : block_ * inner_;
  if (accumulated_.empty()) {
    const int64_t grain = std::max<int64_t>(1, kGrain / per_unit);
    const auto range = [&](int64_t begin, int64_t end) {
      on_thread(nullptr, begin, end, end - begin == all);
    };
    if (mode_ == Mode::kFlat)
      parallel_for(all, grain, range);
    else
      parallel_pieces(all, grain, range);
    return;
  }
  const int64_t copies = apart_ ? 1 : pieces_, parts = apart_ ? outer_[0] : all;
  for (int64_t copy = 0; copy < copies; ++copy) {
    char* accs = shared + static_cast<size_t>(copy) * accumulated_bytes_;
    for (const Accumulated& g : accumulated_) gather_start(g.kind, g.dtype, accs + g.at, g.n);
  }
  parallel_pieces(pieces_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      on_thread(shared + static_cast<size_t>(apart_ ? 0 : piece) * accumulated_bytes_,
                parts * piece / pieces_ * (all / parts),
                parts * (piece + 1) / pieces_ * (all / parts), end - begin == pieces_);
    }
  });
  for (const Accumulated& g : accumulated_) {
    for (int64_t piece = 1; piece < copies; ++piece) {
      gather_parts(g.kind, g.dtype, shared + static_cast<size_t>(piece) * accumulated_bytes_ + g.at,
                   shared + g.at, g.n);
    }
    char* to = g.to.kind == Storage::Kind::kOutput ? static_cast<char*>(m.out[g.to.at].data)
                                                   : m.workspace + g.to.at;
    gather_finish(g.kind, g.dtype, shared + g.at, to, g.n);
  }
}

int Nest::last_read(size_t input) const {
  int last = -1;
  for (const Entry& e : entries_) {
    if (e.base == Entry::Base::kInput && e.at == input) last = std::max(last, e.step);
  }
  return last;
}

int Nest::first_write(size_t output) const {
  int first = -1;
  for (const Entry& e : entries_) {
    if (e.base == Entry::Base::kOutput && e.at == output && e.writes &&
        (first < 0 || e.step < first))
      first = e.step;
  }
  return first;
}

}  // namespace spruce::cpu
