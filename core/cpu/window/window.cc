// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/window/window.h"

#include <algorithm>
#include <limits>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/window/window_quads.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kThread = 1 << 15;  // elements read that are worth a thread

using internal::Compute;

// One tap of the last axis: which cells it reads for, and the place of the first cell.
struct LineTap {
  Run run;
  int64_t first;
};

size_t line_taps_bytes(const WindowPlan& w) {
  return static_cast<size_t>(w.last().window) * sizeof(LineTap);
}

void fill_line_taps(const WindowPlan& w, LineTap* taps) {
  const WindowPlan::Axis& a = w.last();
  for (int64_t k = 0; k < a.window; ++k) {
    const int64_t first = k * a.window_dilation - a.low;
    taps[k] = {run_of(first, a.stride, dilated(a.in, a.dilation), a.out), first};
  }
}

using TapFn = void (*)(const void* context, int64_t tap, int64_t offset, int64_t k);

// Calls f(tap, offset of the line of the input, tap of the last axis) for the taps of one line of
// windows that have anything on the other axes, in row-major order; of the last axis for the first
// `inner` ones.
void visit_taps(const WindowPlan& w, int64_t row, int64_t inner, TapFn f, const void* context) {
  int64_t first[kMaxRank], begin[kMaxRank], step[kMaxRank], tap[kMaxRank];
  for (int d = w.rank - 2; d >= 0; --d) {
    const WindowPlan::Axis& a = w.axes[d];
    first[d] = row % a.out * a.stride - a.low;
    row /= a.out;
    // Of neighbouring places of a dilated input only some are elements.
    step[d] = a.window_dilation == 1 ? a.dilation : 1;
    begin[d] = tap[d] = ((-first[d]) % step[d] + step[d]) % step[d];
    if (begin[d] >= a.window) return;
  }
  for (;;) {
    int64_t offset = 0, number = 0;
    bool inside = true;
    for (int d = 0; d + 1 < w.rank && inside; ++d) {
      const WindowPlan::Axis& a = w.axes[d];
      const int64_t at = element_at(first[d] + tap[d] * a.window_dilation, a.dilation, a.in);
      inside = at >= 0;
      offset += at * a.step;
      number = number * a.window + tap[d];
    }
    for (int64_t k = 0; k < inner && inside; ++k)
      f(context, number * w.last().window + k, offset, k);
    int d = w.rank - 2;
    for (; d >= 0; --d) {
      tap[d] += step[d];
      if (tap[d] < w.axes[d].window) break;
      tap[d] = begin[d];
    }
    if (d < 0) return;
  }
}

// The same without a context.
template <class F>
void each_tap(const WindowPlan& w, int64_t row, int64_t inner, const F& f) {
  const TapFn call = [](const void* context, int64_t tap, int64_t offset, int64_t k) {
    (*static_cast<const F*>(context))(tap, offset, k);
  };
  visit_taps(w, row, inner, call, &f);
}

// Whether the lines that a line of windows meets are joined first, element by element, and windows
// of the result then: fewer steps, and those of lines are dense.
bool joins_lines(const WindowPlan& w) {
  constexpr int64_t kMostApart = 4;  // windows: what lies between them would be joined for nothing
  const WindowPlan::Axis& a = w.last();
  return w.taps() > a.window && a.window > 1 && a.stride <= kMostApart * a.window;
}

// The elements of an array as they are computed with: halves as f32, a line at a time.
struct Elements {
  int64_t bytes, wide;  // of one, there and here
  void (*widen)(const void* from, void* to, int64_t n);
  void (*narrow)(const void* from, void* to, int64_t n);

  bool half() const { return widen != nullptr; }
  size_t line(int64_t n) const { return static_cast<size_t>(n * wide); }
};

template <class T>
constexpr Elements kElements = {sizeof(T), sizeof(Compute<T>), nullptr, nullptr};
template <class T>
constexpr Elements kHalves = {sizeof(T), sizeof(float),
                              [](const void* from, void* to, int64_t n) {
                                widen(static_cast<const T*>(from), static_cast<float*>(to), n);
                              },
                              [](const void* from, void* to, int64_t n) {
                                narrow(static_cast<const float*>(from), static_cast<T*>(to), n);
                              }};

const Elements& elements_of(Dtype dtype) {
  const Elements* e = nullptr;
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>)
      e = &kHalves<T>;
    else
      e = &kElements<T>;
  });
  return *e;
}

// Lines of the input as they are computed with, which are converted once for all taps of a line.
class InputLines {
 public:
  static size_t bytes(const Elements& e, const WindowPlan& w) {
    return e.half() ? e.line(w.last().in) : 0;
  }
  InputLines(const Elements& e, const WindowPlan& w, const View& in)
      : e_(e), in_(in.as<char>()), length_(w.last().in), memory_(bytes(e, w)) {}

  // The line that begins at element `offset`, for tap k of the last axis.
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

size_t joined_bytes(const Elements& e, const WindowPlan& w) {
  return joins_lines(w) ? e.line(w.last().in) : 0;
}

// What reduce and arg_reduce take of a region: lines on the way, of the results of halves or of the
// best elements.
size_t workspace_of(const PrepareArgs& a, bool args) {
  if (a.out[0]->shape.numel() == 0) return 0;
  const WindowPlan w(a.in[0]->shape, a.out[0]->shape, a.params.get<WindowParams>());
  const Elements& e = elements_of(a.in[0]->dtype);
  return workspace_size(line_taps_bytes(w)) + workspace_size(InputLines::bytes(e, w)) +
         (args || e.half() ? workspace_size(e.line(w.last().out)) : 0) +
         (args ? 0 : workspace_size(joined_bytes(e, w)));
}

Line line_of(const WindowPlan& w) {
  return {w.last().in, w.last().dilation, w.last().out, w.last().stride};
}

// f(first row, last row), split over threads.
template <class F>
void over_rows(const WindowPlan& w, const F& f) {
  const int64_t each = std::max<int64_t>(1, w.taps() * w.last().out);
  parallel_for(w.rows() * 64, std::max<int64_t>(64, 64 * kThread / each),
               [&](int64_t begin, int64_t end) { f(begin / 64, (end + 63) / 64); });
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

struct Max {
  template <class T>
  static constexpr T kNothing = std::numeric_limits<T>::has_infinity
                                    ? -std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::lowest();
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return better(x, a) ? x : a;
  }
  template <class T>
  static SPRUCE_INLINE bool better(T x, T a) {
    return (x > a) | ((x != x) & (a == a));
  }
};

struct Min {
  template <class T>
  static constexpr T kNothing = std::numeric_limits<T>::has_infinity
                                    ? std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::max();
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return better(x, a) ? x : a;
  }
  template <class T>
  static SPRUCE_INLINE bool better(T x, T a) {
    return (x < a) | ((x != x) & (a == a));
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

template <class Op>
LineLoops line_loops(Dtype dtype) {
  LineLoops loops{};
  visit_dtype(dtype, [&]<class T>(T) {
    using C = Compute<T>;
    loops = {&begin_line<Op, C>, &spread_elements<Op, C>, &take_tap<Op, C>};
  });
  return loops;
}

void reduce(const KernelArgs& args, const LineLoops& loops) {
  if (args.out[0].numel() == 0) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), args.params.get<WindowParams>());
  const Elements& e = elements_of(args.in[0].dtype());
  const Line line = line_of(w), whole{w.last().in, 1, w.last().in, 1};
  const LineTap dense{{0, whole.cells}, 0};
  const Workspace line_taps(line_taps_bytes(w));
  LineTap* const taps = line_taps.as<LineTap>();
  fill_line_taps(w, taps);
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
        if (spreads(w.last())) {
          loops.spread(y, joined.data(), w.last());
        } else {
          for (int64_t k = 0; k < w.last().window; ++k) loops.take(y, joined.data(), taps[k], line);
        }
      } else {
        each_tap(w, row, w.last().window, [&](int64_t, int64_t offset, int64_t k) {
          loops.take(y, lines.at(offset, k), taps[k], line);
        });
      }
      if (e.half()) e.narrow(y, out, line.cells);
    }
  });
}

template <class Op>
void reduce(const KernelArgs& args) {
  reduce(args, line_loops<Op>(args.in[0].dtype()));
}

// True for windows of two neighbours on the last axis, side by side, that lie within the input:
// both are read at once.
bool pairs(const WindowPlan& w) {
  for (int d = 0; d + 1 < w.rank; ++d) {
    const WindowPlan::Axis& a = w.axes[d];
    if (a.low != 0 || a.dilation != 1 || (a.out - 1) * a.stride + a.reach() >= a.in) return false;
  }
  const WindowPlan::Axis& a = w.last();
  return a.window == 2 && a.stride == 2 && a.low == 0 && a.dilation == 1 &&
         a.window_dilation == 1 && a.in >= 2 * a.out;
}

// A step that stands for pairs().
constexpr int64_t kPairs = 0;

// Keeps the best of best[i] and x[i * step] (or of both of a pair), and which tap it is of;
// index[i] is -1 before the first.
template <class Op, class T>
struct Choose {
  static SPRUCE_INLINE void one(T* best, int32_t* index, T v, int32_t tap) {
    const bool take = (*index < 0) | Op::better(v, *best);
    *best = take ? v : *best;
    *index = take ? tap : *index;
  }
  static SPRUCE_INLINE void body(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                 int32_t tap) {
    if (step == 1) {
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) one(best + i, index + i, x[i], tap);
    } else {
      for (int64_t i = 0; i < n; ++i) one(best + i, index + i, x[i * step], tap);
    }
  }
  // The pairs x[2 i], x[2 i + 1], of taps `tap` and tap + 1. Each bool is computed from floats
  // alone, so that the loop becomes one of vectors.
  static SPRUCE_INLINE void pair_body(T* best, int32_t* index, const T* x, int64_t n, int32_t tap) {
    if (tap == 0) {
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) {
        const T a = x[2 * i], b = x[2 * i + 1];
        best[i] = Op::better(b, a) ? b : a;
        index[i] = Op::better(b, a) ? 1 : 0;
      }
      return;
    }
    // In two steps: compilers do not make vectors of one choice after another.
    constexpr int64_t kBlock = 64;
    T v[kBlock];
    int32_t t[kBlock];
    for (int64_t i0 = 0; i0 < n; i0 += kBlock) {
      const int64_t m = std::min(kBlock, n - i0);
      for (int64_t i = 0; i < m; ++i) {
        const T a = x[2 * (i0 + i)], b = x[2 * (i0 + i) + 1];
        v[i] = Op::better(b, a) ? b : a;
        t[i] = Op::better(b, a) ? tap + 1 : tap;
      }
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < m; ++i) {
        const T known = best[i0 + i];
        best[i0 + i] = Op::better(v[i], known) ? v[i] : known;
        index[i0 + i] = Op::better(v[i], known) ? t[i] : index[i0 + i];
      }
    }
  }
  using Loop = void (*)(T*, int32_t*, const T*, int64_t, int64_t, int32_t);
  SPRUCE_TARGET_BASE static void base(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                      int32_t tap) {
    if (step == kPairs)
      pair_body(best, index, x, n, tap);
    else
      body(best, index, x, step, n, tap);
  }
  SPRUCE_TARGET_V3 static void v3(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                  int32_t tap) {
    if (step == kPairs)
      pair_body(best, index, x, n, tap);
    else
      body(best, index, x, step, n, tap);
  }
  static Loop best_loop() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return pick<Loop>(&base, &v3, &v3);
    else
      return &base;
  }
};

// The loops of a search over elements of one type.
struct ChoiceLoops {
  void (*run)(void* best, int32_t* index, const void* x, int64_t step, int64_t n, int32_t tap);
  // The same for places between which others stand.
  void (*run_dilated)(void* best, int32_t* index, const void* x, const Line& line, int64_t first,
                      int32_t tap);
};

template <class Op, class C>
void choose(void* best, int32_t* index, const void* x, int64_t step, int64_t n, int32_t tap) {
  static const typename Choose<Op, C>::Loop loop = Choose<Op, C>::best_loop();
  loop(static_cast<C*>(best), index, static_cast<const C*>(x), step, n, tap);
}

template <class Op, class C>
void choose_dilated(void* best, int32_t* index, const void* x, const Line& line, int64_t first,
                    int32_t tap) {
  each_place(line, first, [&](int64_t cell, int64_t at) {
    Choose<Op, C>::one(static_cast<C*>(best) + cell, index + cell, static_cast<const C*>(x)[at],
                       tap);
  });
}

template <class Op>
ChoiceLoops choice_loops(Dtype dtype) {
  ChoiceLoops loops{};
  visit_dtype(dtype, [&]<class T>(T) {
    loops = {&choose<Op, Compute<T>>, &choose_dilated<Op, Compute<T>>};
  });
  return loops;
}

void arg_reduce(const KernelArgs& args, const ChoiceLoops& loops) {
  if (args.out[0].numel() == 0) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), args.params.get<WindowParams>());
  const Elements& e = elements_of(args.in[0].dtype());
  const Line line = line_of(w);
  const Workspace line_taps(line_taps_bytes(w));
  LineTap* const taps = line_taps.as<LineTap>();
  fill_line_taps(w, taps);
  const bool both = pairs(w);
  over_rows(w, [&](int64_t begin, int64_t end) {
    const Workspace memory(e.line(line.cells));
    char* const best = memory.as<char>();
    std::fill_n(best, e.line(line.cells), char{0});
    const InputLines lines(e, w, args.in[0]);
    for (int64_t row = begin; row < end; ++row) {
      int32_t* const index = args.out[0].as<int32_t>() + row * line.cells;
      std::fill(index, index + line.cells, -1);
      each_tap(w, row, w.last().window, [&](int64_t tap, int64_t offset, int64_t k) {
        const char* const x = lines.at(offset, k);
        const auto& [run, first] = taps[k];
        const auto number = static_cast<int32_t>(tap);
        if (both) {
          if (k == 0) loops.run(best, index, x, kPairs, line.cells, number);
        } else if (line.dilation == 1) {
          loops.run(best + run.begin * e.wide, index + run.begin,
                    x + (first + run.begin * line.step) * e.wide, line.step, run.end - run.begin,
                    number);
        } else {
          loops.run_dilated(best, index, x, line, first, number);
        }
      });
    }
  });
}

template <class Op>
void arg_reduce(const KernelArgs& args) {
  arg_reduce(args, choice_loops<Op>(args.in[0].dtype()));
}

}  // namespace

size_t window_reduce_workspace(const PrepareArgs& args) { return workspace_of(args, false); }
size_t window_arg_reduce_workspace(const PrepareArgs& args) { return workspace_of(args, true); }

void window_sum_kernel(const KernelArgs& args) { reduce<Sum>(args); }
void window_max_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kMax, args, args.params.get<WindowParams>())) reduce<Max>(args);
}
void window_min_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kMin, args, args.params.get<WindowParams>())) reduce<Min>(args);
}
void window_argmax_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kArgMax, args, args.params.get<WindowParams>())) arg_reduce<Max>(args);
}
void window_argmin_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kArgMin, args, args.params.get<WindowParams>())) arg_reduce<Min>(args);
}

}  // namespace spruce::cpu
