// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/elementwise/elementwise.h"

#include <array>

#include "spruce/core/cpu/elementwise/loops.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own

// The iteration over an output with K inputs: axes over which all inputs advance alike are merged;
// the last axis is the inner loop, where every input has step 0 or 1.
template <int K>
struct Loops {
  int rank = 0;
  int64_t sizes[kMaxRank + 1];
  int64_t strides[K][kMaxRank + 1];  // in elements

  explicit Loops(const KernelArgs& args) {
    const Shape& out = args.out[0].shape();
    int64_t step[K];
    Shape full[K];
    for (int k = 0; k < K; ++k) {
      const Shape& in = args.in[k].shape();
      full[k] = Shape::filled(out.rank(), 0);
      step[k] = 1;
      for (int i = 1; i <= in.rank(); ++i) {
        const int64_t size = in[in.rank() - i];
        if (size != 1) full[k][out.rank() - i] = step[k];
        step[k] *= size;
      }
    }
    for (int axis = 0; axis < out.rank(); ++axis) {
      if (out[axis] == 1) continue;
      bool merges = rank > 0;
      for (int k = 0; k < K && merges; ++k)
        merges = strides[k][rank - 1] == full[k][axis] * out[axis];
      if (merges) {
        sizes[rank - 1] *= out[axis];
        for (int k = 0; k < K; ++k) strides[k][rank - 1] = full[k][axis];
      } else {
        sizes[rank] = out[axis];
        for (int k = 0; k < K; ++k) strides[k][rank] = full[k][axis];
        ++rank;
      }
    }
    if (rank == 0) {
      sizes[0] = 1;
      for (int k = 0; k < K; ++k) strides[k][0] = 0;
      rank = 1;
    }
  }

  // Calls row(offsets, out offset, length) for the pieces of rows within begin..end of the output.
  template <class Row>
  void run(int64_t begin, int64_t end, const Row& row) const {
    const int64_t inner = sizes[rank - 1];
    int64_t index[kMaxRank + 1] = {};
    int64_t at = begin / inner, within = begin % inner;
    std::array<int64_t, K> offset{};
    for (int axis = rank - 2; axis >= 0; --axis) {
      index[axis] = at % sizes[axis];
      at /= sizes[axis];
      for (int k = 0; k < K; ++k) offset[k] += index[axis] * strides[k][axis];
    }
    for (int64_t i = begin; i < end;) {
      const int64_t n = end - i < inner - within ? end - i : inner - within;
      std::array<int64_t, K> from = offset;
      for (int k = 0; k < K; ++k) from[k] += within * strides[k][rank - 1];
      row(from, i, n);
      i += n;
      within = 0;
      for (int axis = rank - 2; axis >= 0; --axis) {
        for (int k = 0; k < K; ++k) offset[k] += strides[k][axis];
        if (++index[axis] < sizes[axis]) break;
        for (int k = 0; k < K; ++k) offset[k] -= strides[k][axis] * sizes[axis];
        index[axis] = 0;
      }
    }
  }
};

const char* at(const View& v, int64_t offset) {
  return static_cast<const char*>(v.data) + offset * size_of(v.dtype());
}
char* out_at(const View& v, int64_t offset) {
  return static_cast<char*>(v.data) + offset * size_of(v.dtype());
}

}  // namespace

void run_unary(const KernelArgs& args, UnaryLoop loop) {
  if (internal::loop_recorder != nullptr) {
    internal::loop_recorder->unary = loop;
    return;
  }
  const int64_t n = args.out[0].numel();
  if (n <= kGrain) {
    loop(args.in[0].data, args.out[0].data, n);
    return;
  }
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    loop(at(args.in[0], begin), out_at(args.out[0], begin), end - begin);
  });
}

void run_binary(const KernelArgs& args, BinaryLoop loop) {
  if (internal::loop_recorder != nullptr) {
    internal::loop_recorder->binary = loop;
    return;
  }
  const int64_t n = args.out[0].numel();
  if (n == 0) return;
  const View &a = args.in[0], &b = args.in[1];
  const bool whole_a = a.numel() == n, whole_b = b.numel() == n;
  if ((whole_a || a.numel() == 1) && (whole_b || b.numel() == 1)) {
    parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
      loop(at(a, whole_a ? begin : 0), at(b, whole_b ? begin : 0), out_at(args.out[0], begin),
           end - begin, whole_a, whole_b);
    });
    return;
  }
  const Loops<2> loops(args);
  const int64_t as = loops.strides[0][loops.rank - 1], bs = loops.strides[1][loops.rank - 1];
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    loops.run(begin, end, [&](const std::array<int64_t, 2>& from, int64_t to, int64_t count) {
      loop(at(a, from[0]), at(b, from[1]), out_at(args.out[0], to), count, as, bs);
    });
  });
}

void run_ternary(const KernelArgs& args, TernaryLoop loop) {
  if (internal::loop_recorder != nullptr) {
    internal::loop_recorder->ternary = loop;
    return;
  }
  const int64_t n = args.out[0].numel();
  if (n == 0) return;
  int64_t steps[3];
  bool flat = true;
  for (int k = 0; k < 3; ++k) {
    const int64_t size = args.in[k].numel();
    steps[k] = size == n ? 1 : 0;
    flat = flat && (size == n || size == 1);
  }
  if (flat) {
    parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
      loop(at(args.in[0], steps[0] * begin), at(args.in[1], steps[1] * begin),
           at(args.in[2], steps[2] * begin), out_at(args.out[0], begin), end - begin, steps[0],
           steps[1], steps[2]);
    });
    return;
  }
  const Loops<3> loops(args);
  const int last = loops.rank - 1;
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    loops.run(begin, end, [&](const std::array<int64_t, 3>& from, int64_t to, int64_t count) {
      loop(at(args.in[0], from[0]), at(args.in[1], from[1]), at(args.in[2], from[2]),
           out_at(args.out[0], to), count, loops.strides[0][last], loops.strides[1][last],
           loops.strides[2][last]);
    });
  });
}

}  // namespace spruce::cpu
