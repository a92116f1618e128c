// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/window/window.h"

#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/window/window_extrema.h"
#include "spruce/core/cpu/window/window_lines.h"
#include "spruce/core/cpu/window/window_quads.h"

namespace spruce::cpu {
namespace {

using internal::Compute, window::Max, window::Min;

// Whether the lines that a line of windows meets are joined first, element by element, and windows
// of the result then: fewer steps, and those of lines are dense.
bool joins_lines(const WindowPlan& w) {
  constexpr int64_t kMostApart = 4;  // windows: what lies between them would be joined for nothing
  const WindowPlan::Axis& a = w.last();
  return w.taps() > a.window && a.window > 1 && a.stride <= kMostApart * a.window;
}

size_t joined_bytes(const Elements& e, const WindowPlan& w) {
  return joins_lines(w) ? e.line(w.last().in) : 0;
}

struct Sum {
  template <class T>
  static constexpr T kNothing = T{};
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x));
    else
      return a + x;
  }
};

// y[i] = op(y[i], x[i * step]).
template <class Op, class T>
struct Combine {
  static SPRUCE_INLINE void body(T* y, const T* x, int64_t step, int64_t n) {
    if (step == 1) {
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) y[i] = Op::call(y[i], x[i]);
    } else if (std::is_floating_point_v<T> && step == 2) {
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) y[i] = Op::call(y[i], x[2 * i]);
    } else if (std::is_floating_point_v<T> && step == 3) {
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) y[i] = Op::call(y[i], x[3 * i]);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = Op::call(y[i], x[i * step]);
    }
  }
  SPRUCE_TARGET_BASE static void base(T* y, const T* x, int64_t step, int64_t n) {
    body(y, x, step, n);
  }
  SPRUCE_TARGET_V3 static void v3(T* y, const T* x, int64_t step, int64_t n) {
    body(y, x, step, n);
  }
  using Loop = void (*)(T*, const T*, int64_t, int64_t);
  static Loop best() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return pick<Loop>(&base, &v3, &v3);
    else
      return &base;
  }
};

// The cells of a line with step 1 whose places are elements of a dilated input are as far apart as
// its elements: op of each and its element.
template <class Op, class T>
void combine_dilated(T* y, const T* x, const LineTap& tap, int64_t dilation) {
  if (tap.run.begin == tap.run.end) return;
  const int64_t behind = (tap.first + tap.run.begin) % dilation;
  int64_t cell = tap.run.begin + (behind == 0 ? 0 : dilation - behind);
  const T* from = x + (tap.first + cell) / dilation;
  for (; cell < tap.run.end; cell += dilation) y[cell] = Op::call(y[cell], *from++);
}

// The same for all taps, one element after the other: each is met by `window` neighbouring cells.
template <class Op, class C>
void spread_elements(void* to, const void* from, const WindowPlan::Axis& a) {
  C* const y = static_cast<C*>(to);
  const C* const x = static_cast<const C*>(from);
  for (int64_t i = 0; i < a.in; ++i) {
    const int64_t last = i * a.dilation + a.low, begin = std::max<int64_t>(last - a.window + 1, 0),
                  end = std::min(last + 1, a.out);
    const C v = x[i];
    SPRUCE_INDEPENDENT
    for (int64_t cell = begin; cell < end; ++cell) y[cell] = Op::call(y[cell], v);
  }
}

// Whether that pays.
bool spreads(const WindowPlan::Axis& a) {
  constexpr int64_t kLeast = 6;
  return a.dilation > 1 && a.stride == 1 && a.window_dilation == 1 && a.window >= kLeast;
}

// The loops of a reduction over elements of one type.
struct LineLoops {
  void (*begin)(void* y, int64_t n);  // no element yet
  void (*spread)(void* y, const void* x, const WindowPlan::Axis& a);
  // Of several NaNs the first one in the order of the window wins, as argmax has it: lines with NaN
  // are not joined. Null where there is none, and for sums.
  bool (*has_nan)(const void* x, int64_t n);
  // What a tap of the last axis adds to a line of windows.
  void (*take)(void* y, const void* x, const LineTap& tap, const Line& line);
};

template <class Op, class C>
void begin_line(void* y, int64_t n) {
  std::fill_n(static_cast<C*>(y), n, Op::template kNothing<C>);
}

template <class Op, class C>
void take_tap(void* to, const void* from, const LineTap& tap, const Line& line) {
  static const typename Combine<Op, C>::Loop combine = Combine<Op, C>::best();
  C* const y = static_cast<C*>(to);
  const C* const x = static_cast<const C*>(from);
  const auto& [run, first] = tap;
  if (line.dilation == 1) {
    combine(y + run.begin, x + first + run.begin * line.step, line.step, run.end - run.begin);
  } else if (line.step == 1) {
    combine_dilated<Op>(y, x, tap, line.dilation);
  } else {
    each_place(line, first, [&](int64_t cell, int64_t at) { y[cell] = Op::call(y[cell], x[at]); });
  }
}

template <class C>
bool has_nan(const void* from, int64_t n) {
  const C* const x = static_cast<const C*>(from);
  int any = 0;
  for (int64_t i = 0; i < n; ++i) any |= static_cast<int>(x[i] != x[i]);
  return any != 0;
}

template <class Op>
LineLoops line_loops(Dtype dtype) {
  LineLoops loops{};
  visit_dtype(dtype, [&]<class T>(T) {
    using C = Compute<T>;
    loops = {&begin_line<Op, C>, &spread_elements<Op, C>, nullptr, &take_tap<Op, C>};
    if constexpr (std::is_floating_point_v<C> && !std::is_same_v<Op, Sum>)
      loops.has_nan = &has_nan<C>;
  });
  return loops;
}

void reduce(const KernelArgs& args, const LineLoops& loops) {
  if (args.out[0].numel() == 0) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), args.params.get<WindowParams>());
  const Elements& e = elements_of(args.in[0].dtype());
  const Line line = line_of(w), whole{w.last().in, 1, w.last().in, 1};
  const LineTap dense{{0, whole.cells}, 0};
  const LineTaps taps(w);
  const bool joins = joins_lines(w);
  over_rows(w, [&](int64_t begin, int64_t end) {
    const Workspace wide(e.half() ? e.line(line.cells) : 0), joined(joined_bytes(e, w));
    const InputLines lines(e, w, args.in[0]);
    for (int64_t row = begin; row < end; ++row) {
      char* const out = args.out[0].as<char>() + row * line.cells * e.bytes;
      void* const y = e.half() ? wide.data() : out;
      loops.begin(y, line.cells);
      if (joins) {
        loops.begin(joined.data(), whole.cells);
        each_tap(w, row, 1, [&](int64_t, int64_t offset, int64_t k) {
          loops.take(joined.data(), lines.at(offset, k), dense, whole);
        });
      }
      if (!joins || (loops.has_nan != nullptr && loops.has_nan(joined.data(), whole.cells))) {
        each_tap(w, row, w.last().window, [&](int64_t, int64_t offset, int64_t k) {
          loops.take(y, lines.at(offset, k), taps[k], line);
        });
      } else if (spreads(w.last())) {
        loops.spread(y, joined.data(), w.last());
      } else {
        for (int64_t k = 0; k < w.last().window; ++k) loops.take(y, joined.data(), taps[k], line);
      }
      if (e.half()) e.narrow(y, out, line.cells);
    }
  });
}

template <class Op>
void reduce(const KernelArgs& args) {
  reduce(args, line_loops<Op>(args.in[0].dtype()));
}

}  // namespace

size_t window_reduce_workspace(const PrepareArgs& args) {
  if (args.out[0]->shape.numel() == 0) return 0;
  const WindowPlan w(args.in[0]->shape, args.out[0]->shape, args.params.get<WindowParams>());
  const Elements& e = elements_of(args.in[0]->dtype);
  return workspace_size(LineTaps::bytes(w)) + workspace_size(InputLines::bytes(e, w)) +
         (e.half() ? workspace_size(e.line(w.last().out)) : 0) + workspace_size(joined_bytes(e, w));
}

void window_sum_kernel(const KernelArgs& args) { reduce<Sum>(args); }
void window_max_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kMax, args, args.params.get<WindowParams>())) reduce<Max>(args);
}
void window_min_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kMin, args, args.params.get<WindowParams>())) reduce<Min>(args);
}

}  // namespace spruce::cpu
