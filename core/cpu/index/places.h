// SPDX-License-Identifier: Apache-2.0
// Where the taps of a window fall on one axis, whose elements may be apart and which ends
// somewhere.
#pragma once

#include <algorithm>
#include <cstdint>

namespace spruce::cpu {

/// Some of the cells 0..cells.
struct Run {
  int64_t begin, end;
};

/// The cells whose place first + cell * step lies in 0..extent-1.
inline Run run_of(int64_t first, int64_t step, int64_t extent, int64_t cells) {
  const int64_t begin = first >= 0 ? 0 : (-first + step - 1) / step;
  const int64_t end = first >= extent ? 0 : (extent - 1 - first) / step + 1;
  const int64_t b = std::min(begin, cells);
  return {b, std::max(b, std::min(end, cells))};
}

/// The extent of an axis whose elements are `dilation` apart.
inline int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// One axis, seen as places first + cell * step of the dilated input.
struct Line {
  int64_t in, dilation, cells, step;
};

/// Calls f(cell, place in the input) for the cells of the line that read an element.
template <class F>
void each_place(const Line& line, int64_t first, const F& f) {
  const Run run = run_of(first, line.step, dilated(line.in, line.dilation), line.cells);
  for (int64_t cell = run.begin; cell < run.end; ++cell) {
    const int64_t at = first + cell * line.step;
    if (line.dilation == 1)
      f(cell, at);
    else if (at % line.dilation == 0)
      f(cell, at / line.dilation);
  }
}

/// The element at a place of the dilated input, or -1.
inline int64_t element_at(int64_t place, int64_t dilation, int64_t in) {
  if (dilation == 1) return place >= 0 && place < in ? place : -1;  // spares the slow divisions
  if (place < 0 || place % dilation != 0) return -1;
  return place / dilation < in ? place / dilation : -1;
}

}  // namespace spruce::cpu
