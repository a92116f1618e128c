// SPDX-License-Identifier: Apache-2.0
// Which element of each window is the largest or the smallest.
#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/cpu/window/window_extrema.h"
#include "spruce/core/cpu/window/window_lines.h"
#include "spruce/core/cpu/window/window_quads.h"

namespace spruce::cpu {
namespace {

using internal::Compute;

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
  static SPRUCE_INLINE void any_body(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                     int32_t tap) {
    if (step == kPairs)
      pair_body(best, index, x, n, tap);
    else
      body(best, index, x, step, n, tap);
  }
  using Loop = void (*)(T*, int32_t*, const T*, int64_t, int64_t, int32_t);
  SPRUCE_TARGET_BASE static void base(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                      int32_t tap) {
    any_body(best, index, x, step, n, tap);
  }
  SPRUCE_TARGET_V3 static void v3(T* best, int32_t* index, const T* x, int64_t step, int64_t n,
                                  int32_t tap) {
    any_body(best, index, x, step, n, tap);
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
  const LineTaps taps(w);
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

size_t window_arg_reduce_workspace(const PrepareArgs& args) {
  if (args.out[0]->shape.numel() == 0) return 0;
  const WindowPlan w(args.in[0]->shape, args.out[0]->shape, args.params.get<WindowParams>());
  const Elements& e = elements_of(args.in[0]->dtype);
  return workspace_size(LineTaps::bytes(w)) + workspace_size(InputLines::bytes(e, w)) +
         workspace_size(e.line(w.last().out));
}

void window_argmax_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kArgMax, args, args.params.get<WindowParams>()))
    arg_reduce<window::Max>(args);
}
void window_argmin_kernel(const KernelArgs& args) {
  if (!quad_kernel(QuadOp::kArgMin, args, args.params.get<WindowParams>()))
    arg_reduce<window::Min>(args);
}

}  // namespace spruce::cpu
