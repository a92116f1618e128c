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
// windows that have anything on the other axes, in row-major order.
void visit_taps(const WindowPlan& w, int64_t row, TapFn f, const void* context) {
  int64_t first[kMaxRank], tap[kMaxRank] = {};
  int64_t outer = 1;
  for (int d = w.rank - 2; d >= 0; --d) {
    first[d] = row % w.axes[d].out * w.axes[d].stride - w.axes[d].low;
    row /= w.axes[d].out;
    outer *= w.axes[d].window;
  }
  const int64_t inner = w.last().window;
  for (int64_t t = 0; t < outer; ++t) {
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d + 1 < w.rank && inside; ++d) {
      const WindowPlan::Axis& a = w.axes[d];
      const int64_t at = element_at(first[d] + tap[d] * a.window_dilation, a.dilation, a.in);
      inside = at >= 0;
      offset += at * a.step;
    }
    for (int64_t k = 0; k < inner && inside; ++k) f(context, t * inner + k, offset, k);
    for (int d = w.rank - 2; d >= 0 && ++tap[d] == w.axes[d].window; --d) tap[d] = 0;
  }
}

// The same without a context.
template <class F>
void each_tap(const WindowPlan& w, int64_t row, const F& f) {
  const TapFn call = [](const void* context, int64_t tap, int64_t offset, int64_t k) {
    (*static_cast<const F*>(context))(tap, offset, k);
  };
  visit_taps(w, row, call, &f);
}

// A line of results on the way; nothing where they need none.
template <class C>
size_t line_bytes(const WindowPlan& w, bool needed) {
  return needed ? static_cast<size_t>(w.last().out) * sizeof(C) : 0;
}

// Lines of the input as they are computed with: halves are converted, once for all taps of a line.
template <class T>
class InputLines {
 public:
  using C = Compute<T>;
  static size_t bytes(const WindowPlan& w) {
    return kIsHalf<T> ? static_cast<size_t>(w.last().in) * sizeof(C) : 0;
  }
  InputLines(const WindowPlan& w, const View& in)
      : in_(in.as<T>()), length_(w.last().in), memory_(bytes(w)) {}

  // The line that begins at `offset`, for tap k of the last axis.
  const C* at(int64_t offset, int64_t k) const {
    if constexpr (kIsHalf<T>) {
      if (k == 0) widen(in_ + offset, memory_.as<C>(), length_);
      return memory_.as<C>();
    } else {
      return in_ + offset;
    }
  }

 private:
  const T* in_;
  int64_t length_;
  Workspace memory_;
};

// What reduce and arg_reduce take of a region; the one has lines on the way for halves only.
size_t workspace_of(const PrepareArgs& a, bool always_lines) {
  if (a.out[0]->shape.numel() == 0) return 0;
  const WindowPlan w(a.in[0]->shape, a.out[0]->shape, a.params.get<WindowParams>());
  size_t bytes = 0;
  visit_dtype(a.in[0]->dtype, [&]<class T>(T) {
    bytes = workspace_size(line_taps_bytes(w)) +
            workspace_size(line_bytes<Compute<T>>(w, always_lines || kIsHalf<T>)) +
            workspace_size(InputLines<T>::bytes(w));
  });
  return bytes;
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

template <class Op>
void reduce(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), args.params.get<WindowParams>());
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    using C = Compute<T>;
    static const typename Combine<Op, C>::Loop combine = Combine<Op, C>::best();
    const Line line = line_of(w);
    const Workspace line_taps(line_taps_bytes(w));
    LineTap* const taps = line_taps.as<LineTap>();
    fill_line_taps(w, taps);
    over_rows(w, [&](int64_t begin, int64_t end) {
      const Workspace wide(line_bytes<C>(w, kIsHalf<T>));
      const InputLines<T> lines(w, args.in[0]);
      for (int64_t row = begin; row < end; ++row) {
        T* const out = args.out[0].as<T>() + row * line.cells;
        C* y;
        if constexpr (kIsHalf<T>)
          y = wide.as<C>();
        else
          y = out;
        std::fill(y, y + line.cells, Op::template kNothing<C>);
        each_tap(w, row, [&](int64_t, int64_t offset, int64_t k) {
          const C* const x = lines.at(offset, k);
          const auto& [run, first] = taps[k];
          if (line.dilation == 1) {
            combine(y + run.begin, x + first + run.begin * line.step, line.step,
                    run.end - run.begin);
          } else if (line.step == 1) {
            combine_dilated<Op>(y, x, taps[k], line.dilation);
          } else {
            each_place(line, first,
                       [&](int64_t cell, int64_t at) { y[cell] = Op::call(y[cell], x[at]); });
          }
        });
        if constexpr (kIsHalf<T>) narrow(y, out, line.cells);
      }
    });
  });
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

template <class Op>
void arg_reduce(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), args.params.get<WindowParams>());
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    using C = Compute<T>;
    static const typename Choose<Op, C>::Loop choose = Choose<Op, C>::best_loop();
    const Line line = line_of(w);
    const Workspace line_taps(line_taps_bytes(w));
    LineTap* const taps = line_taps.as<LineTap>();
    fill_line_taps(w, taps);
    const bool both = pairs(w);
    over_rows(w, [&](int64_t begin, int64_t end) {
      const Workspace memory(line_bytes<C>(w, true));
      C* const best = memory.as<C>();
      std::fill(best, best + line.cells, C{});
      const InputLines<T> lines(w, args.in[0]);
      for (int64_t row = begin; row < end; ++row) {
        int32_t* const index = args.out[0].as<int32_t>() + row * line.cells;
        std::fill(index, index + line.cells, -1);
        each_tap(w, row, [&](int64_t tap, int64_t offset, int64_t k) {
          const C* const x = lines.at(offset, k);
          const auto& [run, first] = taps[k];
          const auto number = static_cast<int32_t>(tap);
          if (both) {
            if (k == 0) choose(best, index, x, kPairs, line.cells, number);
          } else if (line.dilation == 1) {
            choose(best + run.begin, index + run.begin, x + first + run.begin * line.step,
                   line.step, run.end - run.begin, number);
          } else {
            each_place(line, first, [&](int64_t cell, int64_t at) {
              Choose<Op, C>::one(best + cell, index + cell, x[at], number);
            });
          }
        });
      }
    });
  });
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
