// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/pieced_rows.h"

#include <algorithm>
#include <bit>

#include "spruce/core/cpu/index/steps.h"
#include "spruce/core/cpu/permute_rows.h"
#include "spruce/core/cpu/runs.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kFewColumns = 8;  // that are copied one after the other
constexpr int64_t kFewestRows = 8;  // that are permuted at a time

}  // namespace

PiecedRows::PiecedRows(const fusion::Pieces& of_value, const std::vector<Storage>& storages,
                       const NestAxes& axes, int64_t bytes)
    : size(bytes) {
  for (const fusion::Piece& p : of_value) {
    Piece& to = pieces.emplace_back();
    to.from = storages[static_cast<size_t>(p.of)];
    to.from.offset = p.offset * bytes;
    const auto set = [&](int axis, int64_t& step, int64_t& begin, int64_t& end) {
      if (axis < 0) return;
      const auto a = static_cast<size_t>(axis);
      step = p.strides[a] * bytes;
      begin = p.begin[a];
      end = p.end[a];
    };
    set(axes.inner, to.inner, to.first, to.last);
    set(axes.row, to.row, to.first_row, to.last_row);
    for (const int axis : axes.outer)
      set(axis, to.outer.emplace_back(), to.first_outer.emplace_back(),
          to.last_outer.emplace_back());
  }
}

bool PiecedRows::needs_buffer(int64_t block_rows, int64_t n) const {
  return block_rows > 1 || std::any_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
           return (p.inner != size && n > 1) || p.last - p.first != n;
         });
}

const char* PiecedRows::start(const Piece& p, const Block& b, std::span<const View> in) const {
  const char* from = p.from.kind == Storage::Kind::kInput
                         ? static_cast<const char*>(in[p.from.at].data)
                         : static_cast<const char*>(p.from.data);
  from += p.from.offset;
  for (size_t k = 0; k < p.outer.size(); ++k) {
    if (b.outer[k] < p.first_outer[k] || b.outer[k] >= p.last_outer[k]) return nullptr;
    from += b.outer[k] * p.outer[k];
  }
  return from;
}

bool PiecedRows::permute(const Block& b, std::span<const View> in, char* to) const {
  const Piece& one = pieces[0];
  const bool in_place = pieces.size() == 1 && one.inner == size && one.row == b.n * size;
  if (in_place || b.rows < kFewestRows || b.n * size > kPermutedBytes || one.row < size ||
      one.row > kPermutedBytes)
    return false;
  const char* places[kPermutedBytes] = {};
  int64_t found = 0;
  for (const Piece& p : pieces) {
    const bool same = p.from.kind == one.from.kind && p.from.at == one.from.at &&
                      p.from.data == one.from.data && p.row == one.row;
    const char* const from = start(p, b, in);
    if (!same || from == nullptr || p.first_row > b.row || p.last_row < b.row + b.rows)
      return false;
    for (int64_t k = std::max(b.first, p.first); k < std::min(b.first + b.n, p.last); ++k, ++found)
      places[k - b.first] = from + b.row * p.row + k * p.inner;
  }
  if (found != b.n) return false;
  const char* const lowest = *std::min_element(places, places + b.n);
  const int shift = std::countr_zero(static_cast<uint64_t>(size));
  int32_t order[kPermutedBytes];
  for (int64_t k = 0; k < b.n; ++k) {
    if (places[k] - lowest >= one.row) return false;
    order[k] = static_cast<int32_t>(places[k] - lowest) >> shift;
  }
  permute_rows(to, b.n, lowest, one.row >> shift, order, size, b.rows);
  return true;
}

char* PiecedRows::place(const Block& b, std::span<const View> in, char* thread,
                        int64_t* row_step) const {
  char* const to = thread + buffer;
  const StepsLoop loop = steps_loop(size);
  *row_step = b.n * size;
  if (dense && permute(b, in, to)) return to;
  for (const Piece& p : pieces) {
    const char* from = start(p, b, in);
    if (from == nullptr) continue;
    const int64_t row = std::max(b.row, p.first_row),
                  rows = std::min(b.row + b.rows, p.last_row) - row,
                  first = std::max(b.first, p.first), n = std::min(b.first + b.n, p.last) - first;
    if (rows <= 0 || n <= 0) continue;
    from += row * p.row + first * p.inner;
    const bool neighbours = p.inner == size || n == 1,
               close = !dense || rows == 1 || p.row == *row_step;
    if (rows == b.rows && n == b.n && neighbours && close) {
      *row_step = p.row;
      return const_cast<char*>(from);
    }
    char* target = to + ((row - b.row) * b.n + first - b.first) * size;
    if (neighbours) {
      copy_runs(target, b.n * size, from, p.row, n * size, rows);
    } else if (n <= kFewColumns) {
      for (int64_t k = 0; k < n; ++k)
        copy_runs(target + k * size, b.n * size, from + k * p.inner, p.row, size, rows);
    } else {
      for (int64_t r = 0; r < rows; ++r, from += p.row, target += b.n * size)
        loop(from, p.inner / size, n, target);
    }
  }
  return to;
}

}  // namespace spruce::cpu
