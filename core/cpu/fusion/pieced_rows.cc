// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/pieced_rows.h"

#include <algorithm>

#include "spruce/core/cpu/index/steps.h"

namespace spruce::cpu {

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

char* PiecedRows::place(const Block& b, std::span<const View> in, char* thread,
                        int64_t* row_step) const {
  char* const to = thread + buffer;
  const StepsLoop loop = steps_loop(size);
  *row_step = b.n * size;
  for (const Piece& p : pieces) {
    const char* from = p.from.kind == Storage::Kind::kInput
                           ? static_cast<const char*>(in[p.from.at].data)
                           : static_cast<const char*>(p.from.data);
    from += p.from.offset;
    bool has = true;
    for (size_t k = 0; k < p.outer.size(); ++k) {
      has = has && p.first_outer[k] <= b.outer[k] && b.outer[k] < p.last_outer[k];
      from += b.outer[k] * p.outer[k];
    }
    const int64_t row = std::max(b.row, p.first_row),
                  rows = std::min(b.row + b.rows, p.last_row) - row,
                  first = std::max(b.first, p.first), n = std::min(b.first + b.n, p.last) - first;
    if (!has || rows <= 0 || n <= 0) continue;
    from += row * p.row + first * p.inner;
    const bool neighbours = p.inner == size || n == 1,
               close = !dense || rows == 1 || p.row == *row_step;
    if (rows == b.rows && n == b.n && neighbours && close) {
      *row_step = p.row;
      return const_cast<char*>(from);
    }
    char* target = to + ((row - b.row) * b.n + first - b.first) * size;
    for (int64_t r = 0; r < rows; ++r, from += p.row, target += b.n * size)
      loop(from, p.inner / size, n, target);
  }
  return to;
}

}  // namespace spruce::cpu
