// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/windows.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "spruce/core/cpu/parallel.h"

namespace spruce::cpu {

namespace {

constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own
constexpr int64_t kBlock = 256;     // positions that are located at once

}  // namespace

void Walk::add(int64_t size, int64_t operand, int64_t result) {
  size_ *= size;
  if (size == 1) return;
  if (rank_ > 0) {
    Axis& outer = axes_[last()];
    if (outer.operand == operand * size && outer.result == result * size) {
      outer = {outer.size * size, operand, result};
      return;
    }
  }
  axes_[rank_++] = {size, operand, result};
}

Windows::Windows(const GatherParams& params, const Shape& operand, const View& indices,
                 const Shape& result)
    : indices_(indices), clip_(params.clip) {
  const Shape in = row_major_strides(operand), out = row_major_strides(result);
  int kept = 0;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (params.collapsed_dims.contains(axis) || params.operand_batch_dims.contains(axis)) continue;
    window.add(params.window[axis], in[axis], out[static_cast<int>(params.offset_dims[kept++])]);
  }
  int position = 0;
  for (int axis = 0; axis < result.rank(); ++axis) {
    if (params.offset_dims.contains(axis)) continue;
    int64_t along = 0;
    for (int i = 0; i < params.indices_batch_dims.rank(); ++i) {
      if (params.indices_batch_dims[i] == position)
        along = in[static_cast<int>(params.operand_batch_dims[i])];
    }
    positions.add(result[axis], along, out[axis]);
    ++position;
  }
  for (const int64_t entry : params.start_index_map) {
    const int axis = static_cast<int>(entry);
    stride_[keys_] = in[axis];
    limit_[keys_] = operand[axis] - params.window[axis];
    overlapping = overlapping || params.window[axis] > 1;
    ++keys_;
  }
}

// Numbers beyond int64 are as far outside as its largest.
template <class I>
int64_t place_of(I entry) {
  const auto at = static_cast<int64_t>(entry);
  return std::is_same_v<I, uint64_t> && at < 0 ? std::numeric_limits<int64_t>::max() : at;
}

template <class I>
void Windows::locate_as(int64_t begin, int64_t end, int64_t* in_operand, int64_t* in_result) const {
  const I* entry = indices_.as<I>() + begin * keys_;
  const int64_t operand_step = positions.operand_step(), result_step = positions.result_step();
  positions.runs(begin, end, [&](int64_t operand, int64_t result, int64_t n) {
    if (keys_ == 1) {  // the same without branches
      const int64_t stride = stride_[0], last = limit_[0], highest = std::max(last, int64_t{0});
      const bool clip = clip_;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = place_of(entry[i]);
        const bool valid = clip || (at >= 0 && at <= last);
        const int64_t inside = std::clamp(at, int64_t{0}, highest);
        in_operand[i] = valid ? operand + i * operand_step + inside * stride : -1;
        in_result[i] = result + i * result_step;
      }
      entry += n, in_operand += n, in_result += n;
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      int64_t start = operand + i * operand_step;
      for (int k = 0; k < keys_; ++k) {
        const int64_t at = place_of(*entry++);
        const int64_t inside = std::clamp(at, int64_t{0}, std::max(limit_[k], int64_t{0}));
        if (!clip_ && (at != inside || at > limit_[k]))
          start = std::numeric_limits<int64_t>::min() / 2;
        start += inside * stride_[k];
      }
      *in_operand++ = start < 0 ? -1 : start;
      *in_result++ = result + i * result_step;
    }
  });
}

void Windows::locate(int64_t begin, int64_t end, int64_t* in_operand, int64_t* in_result) const {
  visit_dtype(indices_.dtype(), [&]<class I>(I) {
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>) {
      locate_as<I>(begin, end, in_operand, in_result);
    }
  });
}

namespace {

// Calls f(operand places, result places, how many) for blocks of the positions begin..end.
template <class F>
void for_blocks(const Windows& w, int64_t begin, int64_t end, const F& f) {
  int64_t in_operand[kBlock], in_result[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    w.locate(at, at + n, in_operand, in_result);
    f(in_operand, in_result, n);
  }
}

// The positions first..last and the steps begin..end of their windows.
template <class T>
void gather_part(const Windows& w, const T* operand, T* result, int64_t first, int64_t last,
                 int64_t begin, int64_t end) {
  const int64_t from_step = w.window.operand_step(), to_step = w.window.result_step();
  for_blocks(w, first, last, [&](const int64_t* from, const int64_t* to, int64_t count) {
    if (w.window.rows()) {
      for (int64_t i = 0; i < count; ++i) {
        w.window.runs(begin, end, [&](int64_t from_run, int64_t to_run, int64_t n) {
          const T* x = operand + from[i] + from_run;
          T* y = result + to[i] + to_run;
          if (from[i] < 0) {
            std::fill_n(y, n, T{});
          } else if (from_step == 1) {
            std::memcpy(y, x, static_cast<size_t>(n) * sizeof(T));
          } else {
            for (int64_t j = 0; j < n; ++j) y[j] = x[j * from_step];
          }
        });
      }
      return;
    }
    w.window.runs(begin, end, [&](int64_t from_run, int64_t to_run, int64_t n) {
      for (int64_t j = 0; j < n; ++j) {
        const T* x = operand + from_run + j * from_step;
        T* y = result + to_run + j * to_step;
        for (int64_t i = 0; i < count; ++i) y[to[i]] = from[i] < 0 ? T{} : x[from[i]];
      }
    });
  });
}

template <class T>
void gather_as(const KernelArgs& args, const Windows& w) {
  const T* operand = args.in[0].as<T>();
  T* result = args.out[0].as<T>();
  const int64_t positions = w.positions.size(), window = w.window.size();
  if (positions == 0 || window == 0) return;
  if (positions >= window) {
    parallel_for(positions, std::max<int64_t>(1, kGrain / window), [&](int64_t begin, int64_t end) {
      gather_part(w, operand, result, begin, end, 0, window);
    });
  } else {
    parallel_for(window, std::max<int64_t>(64, kGrain / positions),
                 [&](int64_t begin, int64_t end) {
                   gather_part(w, operand, result, 0, positions, begin, end);
                 });
  }
}

}  // namespace

void gather_kernel(const KernelArgs& args) {
  const Windows w(args.params.get<GatherParams>(), args.in[0].shape(), args.in[1],
                  args.out[0].shape());
  switch (size_of(args.in[0].dtype())) {
    case 1:
      return gather_as<uint8_t>(args, w);
    case 2:
      return gather_as<uint16_t>(args, w);
    case 4:
      return gather_as<uint32_t>(args, w);
    default:
      return gather_as<uint64_t>(args, w);
  }
}

}  // namespace spruce::cpu
