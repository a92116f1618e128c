// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/window/window_quads.h"

#include <algorithm>
#include <limits>

#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/window/quad_loops.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kThread = 1 << 17;  // elements of the input that are worth a thread

// Planes of windows over planes of elements.
struct Quads {
  int64_t planes, in_rows, in_cols, rows, cols;
};

bool match(const Shape& in, const Shape& out, const WindowParams& w, Quads* q) {
  const int rank = in.rank();
  if (rank < 2 || out.numel() == 0) return false;
  for (int d = 0; d < rank; ++d) {
    const int64_t window = d < rank - 2 ? 1 : 2;
    if (w.window[d] != window || w.strides[d] != window || w.padding_low[d] != 0 ||
        w.base_dilation[d] != 1 || w.window_dilation[d] != 1 || out[d] > in[d] / window)
      return false;
    if (window == 1) q->planes *= in[d];
  }
  q->in_rows = in[rank - 2], q->in_cols = in[rank - 1];
  q->rows = out[rank - 2], q->cols = out[rank - 1];
  return true;
}

// f(offset of the elements above, offset of the windows, how many of a line), split over threads by
// planes; at most `most` of a line at once.
template <class F>
void over_lines(const Quads& q, int64_t most, const F& f) {
  const int64_t plane = q.in_rows * q.in_cols;
  parallel_pieces(q.planes, std::max<int64_t>(1, kThread / plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      for (int64_t r = 0; r < q.rows; ++r) {
        const int64_t above = p * plane + 2 * r * q.in_cols, line = (p * q.rows + r) * q.cols;
        for (int64_t i = 0; i < q.cols; i += most)
          f(above + 2 * i, line + i, std::min(most, q.cols - i));
      }
    }
  });
}

// Windows that are looked at together: halves are converted for that.
template <class T>
constexpr int64_t kMost = kIsHalf<T> ? 256 : std::numeric_limits<int64_t>::max();

// Elements as floats, for as long as this lives.
template <class T>
class Floats {
 public:
  const float* read(const T* x, int64_t n) {
    if constexpr (kIsHalf<T>) {
      widen(x, memory_, n);
      return memory_;
    } else {
      return x;
    }
  }
  // Calls f with memory for n elements, and has what it writes in x.
  template <class F>
  void write(T* x, int64_t n, const F& f) {
    if constexpr (kIsHalf<T>) {
      f(memory_);
      narrow(memory_, x, n);
    } else {
      f(x);
    }
  }

 private:
  float memory_[kIsHalf<T> ? 2 * kMost<T> : 1];
};

template <class T>
void scatter_lines(const Quads& q, const View& windows, const View& taps, const View& to) {
  const auto scatter = quad_loops().scatter;
  const T* const x = windows.as<T>();
  const int32_t* const tap = taps.as<int32_t>();
  T* const out = to.as<T>();
  over_lines(q, kMost<T>, [&](int64_t at, int64_t window, int64_t n) {
    Floats<T> from, first, second;
    first.write(out + at, 2 * n, [&](float* above) {
      second.write(out + at + q.in_cols, 2 * n, [&](float* below) {
        scatter(from.read(x + window, n), tap + window, n, above, below);
      });
    });
    if ((window + n) % q.cols != 0) return;
    T *const above = out + at + 2 * n, *const below = above + q.in_cols;
    const int64_t rest = q.in_cols - 2 * q.cols;
    std::fill_n(above, rest, T{});
    std::fill_n(below, rest, T{});
    if (q.in_rows > 2 * q.rows &&
        window / q.cols % q.rows == q.rows - 1)  // lines below the last windows
      std::fill_n(below + rest, (q.in_rows - 2 * q.rows) * q.in_cols, T{});
  });
}

template <class T>
void gather_lines(const Quads& q, const View& elements, const View& taps, const View& to,
                  double fill) {
  const auto gather = quad_loops().gather;
  const T* const x = elements.as<T>();
  over_lines(q, kMost<T>, [&](int64_t at, int64_t window, int64_t n) {
    Floats<T> above, below, out;
    out.write(to.as<T>() + window, n, [&](float* y) {
      gather(above.read(x + at, 2 * n), below.read(x + at + q.in_cols, 2 * n),
             taps.as<int32_t>() + window, n, static_cast<float>(fill), y);
    });
  });
}

template <class T>
void choose_lines(const Quads& q, bool max, const View& elements, const View& to) {
  const auto choose = max ? quad_loops().argmax : quad_loops().argmin;
  const T* const x = elements.as<T>();
  over_lines(q, kMost<T>, [&](int64_t at, int64_t window, int64_t n) {
    Floats<T> above, below;
    choose(above.read(x + at, 2 * n), below.read(x + at + q.in_cols, 2 * n), n,
           to.as<int32_t>() + window);
  });
}

template <class T>
void extreme_lines(const Quads& q, bool max, const View& elements, const View& to) {
  const auto extreme = max ? quad_loops().max : quad_loops().min;
  const T* const x = elements.as<T>();
  over_lines(q, kMost<T>, [&](int64_t at, int64_t window, int64_t n) {
    Floats<T> above, below, out;
    out.write(to.as<T>() + window, n, [&](float* y) {
      extreme(above.read(x + at, 2 * n), below.read(x + at + q.in_cols, 2 * n), n, y);
    });
  });
}

template <class T>
void run_quads(QuadOp op, const Quads& q, const KernelArgs& args) {
  const View &x = args.in[0], &out = args.out[0];
  switch (op) {
    case QuadOp::kScatter:
      return scatter_lines<T>(q, x, args.in[1], out);
    case QuadOp::kGather:
      return gather_lines<T>(q, x, args.in[1], out, args.params.get<WindowGatherParams>().fill);
    case QuadOp::kArgMax:
    case QuadOp::kArgMin:
      return choose_lines<T>(q, op == QuadOp::kArgMax, x, out);
    default:
      return extreme_lines<T>(q, op == QuadOp::kMax, x, out);
  }
}

}  // namespace

bool quad_kernel(QuadOp op, const KernelArgs& args, const WindowParams& windows) {
  const View &first = args.in[0], &out = args.out[0];
  Quads q{1, 0, 0, 0, 0};
  const bool scatters = op == QuadOp::kScatter;
  if (!match(scatters ? out.shape() : first.shape(), scatters ? first.shape() : out.shape(),
             windows, &q))
    return false;
  switch (first.dtype()) {
    case Dtype::kFloat32:
      return run_quads<float>(op, q, args), true;
    case Dtype::kFloat16:
      return run_quads<Float16>(op, q, args), true;
    case Dtype::kBfloat16:
      return run_quads<Bfloat16>(op, q, args), true;
    default:
      return false;
  }
}

}  // namespace spruce::cpu
