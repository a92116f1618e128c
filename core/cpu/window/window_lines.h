// SPDX-License-Identifier: Apache-2.0
// What kernels of windows walk over: the lines of the input that a line of windows meets.
#pragma once

#include <algorithm>

#include "spruce/core/cpu/index/places.h"
#include "spruce/core/parallel.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/window_plan.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

/// One tap of the last axis: which cells it reads for, and the place of the first cell.
struct LineTap {
  Run run;
  int64_t first;
};

/// All taps of the last axis.
class LineTaps {
 public:
  explicit LineTaps(const WindowPlan& w);
  const LineTap& operator[](int64_t k) const { return memory_.as<LineTap>()[k]; }
  static size_t bytes(const WindowPlan& w) {
    return static_cast<size_t>(w.last().window) * sizeof(LineTap);
  }

 private:
  Workspace memory_;
};

using TapFn = void (*)(const void* context, int64_t tap, int64_t offset, int64_t k);

/// Calls f(tap, offset of the line of the input, tap of the last axis) for the taps of one line of
/// windows that have anything on the other axes, in row-major order; of the last axis for the first
/// `inner` ones.
void visit_taps(const WindowPlan& w, int64_t row, int64_t inner, TapFn f, const void* context);

/// The same without a context.
template <class F>
void each_tap(const WindowPlan& w, int64_t row, int64_t inner, const F& f) {
  const TapFn call = [](const void* context, int64_t tap, int64_t offset, int64_t k) {
    (*static_cast<const F*>(context))(tap, offset, k);
  };
  visit_taps(w, row, inner, call, &f);
}

/// The elements of an array as they are computed with: halves as f32, a line at a time.
struct Elements {
  int64_t bytes, wide;  // of one, there and here
  void (*widen)(const void* from, void* to, int64_t n);
  void (*narrow)(const void* from, void* to, int64_t n);

  bool half() const { return widen != nullptr; }
  size_t line(int64_t n) const { return static_cast<size_t>(n * wide); }
};

/// Those of a dtype.
const Elements& elements_of(Dtype dtype);

/// Lines of the input as they are computed with, which are converted once for all taps of a line.
class InputLines {
 public:
  static size_t bytes(const Elements& e, const WindowPlan& w) {
    return e.half() ? e.line(w.last().in) : 0;
  }
  InputLines(const Elements& e, const WindowPlan& w, const View& in)
      : e_(e), in_(in.as<char>()), length_(w.last().in), memory_(bytes(e, w)) {}

  /// The line that begins at element `offset`, for tap k of the last axis.
  const char* at(int64_t offset, int64_t k) const {
    const char* const from = in_ + offset * e_.bytes;
    if (!e_.half()) return from;
    if (k == 0) e_.widen(from, memory_.data(), length_);
    return memory_.as<char>();
  }

 private:
  const Elements& e_;
  const char* in_;
  int64_t length_;
  Workspace memory_;
};

inline Line line_of(const WindowPlan& w) {
  return {w.last().in, w.last().dilation, w.last().out, w.last().stride};
}

/// f(first row, last row), split over threads.
template <class F>
void over_rows(const WindowPlan& w, const F& f) {
  constexpr int64_t kThread = 1 << 15;  // elements read that are worth a thread
  const int64_t each = std::max<int64_t>(1, w.taps() * w.last().out);
  parallel_for(w.rows() * 64, std::max<int64_t>(64, 64 * kThread / each),
               [&](int64_t begin, int64_t end) { f(begin / 64, (end + 63) / 64); });
}

}  // namespace spruce::cpu
