// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/pieced_rows.h"

#include <algorithm>
#include <cstring>

namespace spruce::cpu {
namespace {

template <class T>
void move_run(const char* from, int64_t step, char* to, int64_t n) {
  T* y = reinterpret_cast<T*>(to);
  if (step == 0) {
    std::fill_n(y, n, *reinterpret_cast<const T*>(from));
  } else if (step == -static_cast<int64_t>(sizeof(T))) {
    const T* x = reinterpret_cast<const T*>(from);
    for (int64_t j = 0; j < n; ++j) y[j] = x[-j];
  } else {
    for (int64_t j = 0; j < n; ++j, from += step) y[j] = *reinterpret_cast<const T*>(from);
  }
}

void move_run(const char* from, int64_t step, char* to, int64_t n, int64_t size) {
  if (step == size) {
    std::memcpy(to, from, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1:
      return move_run<uint8_t>(from, step, to, n);
    case 2:
      return move_run<uint16_t>(from, step, to, n);
    case 4:
      return move_run<uint32_t>(from, step, to, n);
    default:
      return move_run<uint64_t>(from, step, to, n);
  }
}

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

char* PiecedRows::place(const Block& b, std::span<const View> in, char* thread,
                        int64_t* row_step) const {
  char* const to = thread + buffer;
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
      move_run(from, p.inner, target, n, size);
  }
  return to;
}

}  // namespace spruce::cpu
