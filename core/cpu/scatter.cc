// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/half.h"
#include "spruce/core/cpu/inline.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/scratch.h"
#include "spruce/core/cpu/windows.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;
constexpr int64_t kBlock = 256;

struct Set {
  template <class T>
  static SPRUCE_INLINE T call(T, T update) {
    return update;
  }
};
struct Add {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Mul {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
// NaN wins over every number.
struct Min {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct Max {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return a < b || b != b ? b : a;
  }
};

// n elements, of which none is read and written at once: `u` lies in other memory.
template <class Op, class T, class U>
SPRUCE_INLINE void combine_run(T* x, int64_t x_step, const U* u, int64_t u_step, int64_t n) {
  if (x_step == 1 && u_step == 1) {
    SPRUCE_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) x[j] = Op::call(x[j], static_cast<T>(u[j]));
  } else {
    for (int64_t j = 0; j < n; ++j)
      x[j * x_step] = Op::call(x[j * x_step], static_cast<T>(u[j * u_step]));
  }
}

// All positions in their order, and of their windows the steps begin..end.
template <class Op, class T, class U>
void scatter_part(const Windows& w, T* operand, const U* updates, int64_t begin, int64_t end) {
  const int64_t to_step = w.window.operand_step(), from_step = w.window.result_step();
  const int64_t positions = w.positions.size();
  const bool by_window = w.window.rows() || w.overlapping;
  // Most windows are one run.
  int64_t runs = 0, first_to = 0, first_from = 0, first_count = 0;
  w.window.runs(begin, end, [&](int64_t to_run, int64_t from_run, int64_t n) {
    if (runs++ == 0) first_to = to_run, first_from = from_run, first_count = n;
  });
  int64_t to[kBlock], from[kBlock];
  for (int64_t at = 0; at < positions; at += kBlock) {
    const int64_t count = std::min(kBlock, positions - at);
    w.locate(at, at + count, to, from);
    if (by_window && runs == 1) {
      T* const x = operand + first_to;
      const U* const u = updates + first_from;
      for (int64_t i = 0; i < count; ++i) {
        if (to[i] >= 0) combine_run<Op>(x + to[i], to_step, u + from[i], from_step, first_count);
      }
    } else if (by_window) {
      for (int64_t i = 0; i < count; ++i) {
        if (to[i] < 0) continue;
        w.window.runs(begin, end, [&](int64_t to_run, int64_t from_run, int64_t n) {
          combine_run<Op>(operand + to[i] + to_run, to_step, updates + from[i] + from_run,
                          from_step, n);
        });
      }
    } else {
      w.window.runs(begin, end, [&](int64_t to_run, int64_t from_run, int64_t n) {
        for (int64_t j = 0; j < n; ++j) {
          T* x = operand + to_run + j * to_step;
          const U* u = updates + from_run + j * from_step;
          for (int64_t i = 0; i < count; ++i) {
            if (to[i] >= 0) x[to[i]] = Op::call(x[to[i]], static_cast<T>(u[from[i]]));
          }
        }
      });
    }
  }
}

// Threads share out the window, never the positions: the order of the updates of an element is
// always the same.
template <class Op, class T, class U>
void scatter_as(const Windows& w, T* operand, const U* updates) {
  const int64_t positions = w.positions.size(), window = w.window.size();
  if (positions == 0 || window == 0) return;
  if (w.overlapping && positions > 1) {
    scatter_part<Op>(w, operand, updates, 0, window);
    return;
  }
  parallel_for(window, std::max<int64_t>(64, kGrain / positions), [&](int64_t begin, int64_t end) {
    scatter_part<Op>(w, operand, updates, begin, end);
  });
}

// Halves are combined in f32, so that many small updates of one element are not lost.
template <class T>
size_t wide_bytes(const Shape& out) {
  return kIsHalf<T> ? bytes_of(out.numel()) : 0;
}

template <class Op, class T>
void combine_as(const Windows& w, const View& out, const void* updates) {
  const T* u = static_cast<const T*>(updates);
  if constexpr (kIsHalf<T>) {
    T* const y = out.as<T>();
    const Scratch memory(wide_bytes<T>(out.shape()));
    float* const wide = memory.as<float>();
    const int64_t n = out.numel();
    widen(y, wide, n);
    scatter_as<Op>(w, wide, u);
    narrow(wide, y, n);
  } else {
    scatter_as<Op>(w, out.as<T>(), u);
  }
}

template <class Op>
void combine(const Windows& w, const View& out, const void* updates) {
  visit_dtype(out.dtype(), [&]<class T>(T) { combine_as<Op, T>(w, out, updates); });
}

template <class T>
void set_as(const Windows& w, const View& out, const void* updates) {
  scatter_as<Set>(w, out.as<T>(), static_cast<const T*>(updates));
}

void set(const Windows& w, const View& out, const void* updates) {
  switch (size_of(out.dtype())) {
    case 1:
      return set_as<uint8_t>(w, out, updates);
    case 2:
      return set_as<uint16_t>(w, out, updates);
    case 4:
      return set_as<uint32_t>(w, out, updates);
    default:
      return set_as<uint64_t>(w, out, updates);
  }
}

// An input, in memory of its own if the output is about to overwrite it.
class Apart {
 public:
  Apart(const View& in, const View& out)
      : copy_(in.data == out.data ? static_cast<size_t>(in.aval->bytes()) : 0), view_(in) {
    if (copy_.data() == nullptr) return;
    std::memcpy(copy_.data(), in.data, static_cast<size_t>(in.aval->bytes()));
    view_.data = copy_.data();
  }
  const View& view() const { return view_; }

 private:
  Scratch copy_;
  View view_;
};

class Prepared final : public PreparedKernel {
 public:
  Prepared(const PrepareArgs& args, ScatterOp op) : op_(op) {
    if (op == ScatterOp::kSet) return;
    visit_dtype(args.out[0]->dtype,
                [&]<class T>(T) { bytes_ = scratch_size(wide_bytes<T>(args.out[0]->shape)); });
  }
  void run(const KernelArgs& args) const override {
    const ScratchRegion region(args.scratch, bytes_);
    scatter(args, op_);
  }
  size_t scratch_bytes() const override { return bytes_; }
  // In the memory of the others it would take copies of them.
  bool in_place(size_t in, size_t) const override { return in == 0; }

 private:
  ScatterOp op_;
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_scatter(const PrepareArgs& args, ScatterOp op) {
  return std::make_unique<const Prepared>(args, op);
}

void scatter(const KernelArgs& args, ScatterOp op) {
  const View &operand = args.in[0], &out = args.out[0];
  const Apart indices_apart(args.in[1], out), updates_apart(args.in[2], out);
  const View &indices = indices_apart.view(), &updates = updates_apart.view();
  if (operand.data != out.data) {
    parallel_for(operand.aval->bytes(), kGrain * 8, [&](int64_t begin, int64_t end) {
      std::memcpy(out.as<char>() + begin, operand.as<char>() + begin,
                  static_cast<size_t>(end - begin));
    });
  }
  const Windows w(args.params.get<GatherParams>(), operand.shape(), indices, updates.shape());
  switch (op) {
    case ScatterOp::kSet:
      return set(w, out, updates.data);
    case ScatterOp::kAdd:
      return combine<Add>(w, out, updates.data);
    case ScatterOp::kMul:
      return combine<Mul>(w, out, updates.data);
    case ScatterOp::kMin:
      return combine<Min>(w, out, updates.data);
    case ScatterOp::kMax:
      return combine<Max>(w, out, updates.data);
  }
}

}  // namespace spruce::cpu
