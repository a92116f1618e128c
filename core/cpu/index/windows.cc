// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/windows.h"

#include <algorithm>
#include <limits>

namespace spruce::cpu {

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

}  // namespace spruce::cpu
