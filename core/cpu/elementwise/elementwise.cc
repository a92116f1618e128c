// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "spruce/core/cpu/boxes.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;   // elements that are worth a thread of their own
constexpr int64_t kShortRow = 64;    // elements: a loop takes many rows that are shorter at once
constexpr int64_t kTogether = 1024;  // elements of these

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

  // Of the inputs at that place of the first `axes` axes, and its index.
  std::array<int64_t, K> offsets(int64_t place, int axes, int64_t* index) const {
    std::array<int64_t, K> offset{};
    for (int axis = axes - 1; axis >= 0; --axis) {
      index[axis] = place % sizes[axis];
      place /= sizes[axis];
      for (int k = 0; k < K; ++k) offset[k] += index[axis] * strides[k][axis];
    }
    return offset;
  }

  // Calls row(offsets, out offset, length) for the pieces of rows within begin..end of the output.
  template <class Row>
  void run(int64_t begin, int64_t end, const Row& row) const {
    const int64_t inner = sizes[rank - 1];
    int64_t index[kMaxRank + 1] = {};
    int64_t within = begin % inner;
    std::array<int64_t, K> offset = offsets(begin / inner, rank - 1, index);
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

// Boxes: short rows, or where an array of these is small too, those of the last two axes.
struct Boxes {
  int axis;  // from box to box
  Box box;
};

// None where rows are long, or elements few.
template <int K>
std::optional<Boxes> boxes_of(const Loops<K>& loops) {
  constexpr int64_t kFewest = 2 * kShortRow;
  const int last = loops.rank - 1;
  const int64_t row = loops.sizes[last];
  if (last == 0 || row >= kShortRow) return {};
  if (row * loops.sizes[last - 1] >= kFewest) return Boxes{last - 1, {1, row}};
  if (last == 1 || row * loops.sizes[last - 1] * loops.sizes[last - 2] < kFewest) return {};
  return Boxes{last - 2, {loops.sizes[last - 1], row}};
}

// An operand of boxes.
class BoxOperand {
 public:
  BoxOperand(const View& v, BoxSteps steps, Box box) : view_(v), steps_(steps), box_(box) {}

  int64_t step() const { return steps_.is_one() ? 0 : 1; }

  // `count` boxes, at most kTogether elements, from box `first` on of those that begin at `offset`.
  const char* from(int64_t offset, int64_t first, int64_t count) {
    const char* const begin = at(view_, offset + first * steps_.box);
    if (steps_.is_one() || steps_.is_dense(box_)) return begin;
    if (steps_.box != 0 || begin != filled_from_ || count > filled_) {
      spread_boxes(begin, steps_, box_, size_of(view_.dtype()), count, memory_);
      filled_from_ = begin, filled_ = count;
    }
    return memory_;
  }

 private:
  const View& view_;
  BoxSteps steps_;
  Box box_;
  const char* filled_from_ = nullptr;  // what memory_ has, `filled_` times where it repeats
  int64_t filled_ = 0;
  alignas(64) char memory_[kTogether * 8];
};

// Calls f(operands, steps, out offset, length) for the boxes begin..end of the output.
template <class F, size_t... K>
void run_boxes(const KernelArgs& args, const Loops<sizeof...(K)>& loops, Boxes boxes, int64_t begin,
               int64_t end, const F& f, std::index_sequence<K...>) {
  const int last = loops.rank - 1, axis = boxes.axis;
  const int64_t n = boxes.box.size(), together = loops.sizes[axis], most = kTogether / n;
  BoxOperand all[] = {{args.in[K],
                       {loops.strides[K][axis], loops.strides[K][last - 1], loops.strides[K][last]},
                       boxes.box}...};
  const std::array<int64_t, sizeof...(K)> steps{all[K].step()...};
  while (begin < end) {
    int64_t index[kMaxRank + 1];
    const auto offset = loops.offsets(begin / together, axis, index);
    const int64_t stop = std::min(end, (begin / together + 1) * together);
    for (; begin < stop; begin += most) {
      const int64_t count = std::min(most, stop - begin);
      const std::array<const char*, sizeof...(K)> operands{
          all[K].from(offset[K], begin % together, count)...};
      f(operands, steps, begin * n, count * n);
    }
    begin = stop;
  }
}

// The same for all of the output, on several threads.
template <int K, class F>
void run_rows(const KernelArgs& args, const F& f) {
  const Loops<K> loops(args);
  const int last = loops.rank - 1;
  const int64_t size = args.out[0].numel();
  if (const std::optional<Boxes> boxes = boxes_of(loops)) {
    const int64_t n = boxes->box.size();
    return parallel_for(size / n, kGrain / n, [&](int64_t begin, int64_t end) {
      run_boxes(args, loops, *boxes, begin, end, f, std::make_index_sequence<K>());
    });
  }
  std::array<int64_t, K> steps;
  for (int k = 0; k < K; ++k) steps[k] = loops.strides[k][last];
  parallel_for(size, kGrain, [&](int64_t begin, int64_t end) {
    loops.run(begin, end, [&](const std::array<int64_t, K>& from, int64_t to, int64_t count) {
      std::array<const char*, K> operands;
      for (int k = 0; k < K; ++k) operands[k] = at(args.in[k], from[k]);
      f(operands, steps, to, count);
    });
  });
}

}  // namespace

void run_unary(const KernelArgs& args, UnaryLoop loop) {
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
  run_rows<2>(args, [&](const auto& x, const auto& step, int64_t to, int64_t count) {
    loop(x[0], x[1], out_at(args.out[0], to), count, step[0], step[1]);
  });
}

void run_ternary(const KernelArgs& args, TernaryLoop loop) {
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
  run_rows<3>(args, [&](const auto& x, const auto& step, int64_t to, int64_t count) {
    loop(x[0], x[1], x[2], out_at(args.out[0], to), count, step[0], step[1], step[2]);
  });
}

}  // namespace spruce::cpu
