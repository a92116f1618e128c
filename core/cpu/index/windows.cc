// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/windows.h"

#include <algorithm>
#include <limits>

#include "spruce/core/cpu/isa.h"

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
  bool leads = true;
  for (int axis = 0; axis < result.rank(); ++axis) {
    if (params.offset_dims.contains(axis)) continue;
    int64_t along = 0;
    for (int i = 0; i < params.indices_batch_dims.rank(); ++i) {
      if (params.indices_batch_dims[i] == position)
        along = in[static_cast<int>(params.operand_batch_dims[i])];
    }
    leads = leads && along > 0;
    if (leads) batches *= result[axis];
    positions.add(result[axis], along, out[axis]);
    ++position;
  }
  for (const int64_t entry : params.start_index_map) {
    const int axis = static_cast<int>(entry);
    stride_[keys_] = in[axis];
    limit_[keys_] = operand[axis] - params.window[axis];
    wrap_[keys_] = params.wraps ? operand[axis] : 0;
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

// The windows at one index each, without branches; those of a run of positions.
struct OneKey {
  int64_t first, step;  // of the operand: where the run begins, and from position to position
  int64_t last, stride, wrap;
  bool clip;
};

template <class I>
struct Located {
  using Loop = void (*)(const I*, int64_t, const OneKey&, int64_t*);

  // W: what holds the entries and all that they are compared with and multiplied by.
  template <class W, bool kClip>
  static SPRUCE_INLINE void places_of(const I* entries, int64_t n, const OneKey& key,
                                      int64_t* places) {
    const W last = static_cast<W>(key.last), highest = std::max(last, W{0}),
            stride = static_cast<W>(key.stride), wrap = static_cast<W>(key.wrap);
    const int64_t step = key.step;
    int64_t first = key.first;  // of position i: a product of int64 would cost as much as the rest
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i, first += step) {
      const W at = wrapped(static_cast<W>(place_of(entries[i])), wrap);
      const W inside = std::min(std::max(at, W{0}), highest);
      const int64_t place = first + int64_t{inside} * int64_t{stride};
      const bool outside = (at != inside) | (inside > last);
      places[i] = kClip ? place : place | -static_cast<int64_t>(outside);
    }
  }
  template <class W>
  static SPRUCE_INLINE void body_as(const I* entries, int64_t n, const OneKey& key,
                                    int64_t* places) {
    if (key.clip)
      places_of<W, true>(entries, n, key, places);
    else
      places_of<W, false>(entries, n, key, places);
  }
  static SPRUCE_INLINE void body(const I* entries, int64_t n, const OneKey& key, int64_t* places) {
    if constexpr (std::is_same_v<I, int32_t>) {
      constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
      if (key.last < kMost && key.last > -kMost && key.stride <= kMost && key.wrap <= kMost)
        return body_as<int32_t>(entries, n, key, places);
    }
    body_as<int64_t>(entries, n, key, places);
  }
  SPRUCE_TARGET_BASE static void base(const I* entries, int64_t n, const OneKey& key,
                                      int64_t* places) {
    body(entries, n, key, places);
  }
  SPRUCE_TARGET_V3 static void v3(const I* entries, int64_t n, const OneKey& key, int64_t* places) {
    body(entries, n, key, places);
  }
  SPRUCE_TARGET_V4 static void v4(const I* entries, int64_t n, const OneKey& key, int64_t* places) {
    body(entries, n, key, places);
  }
  // The indices that programs have mostly.
  static Loop best() {
    if constexpr (std::is_same_v<I, int32_t>)
      return pick<Loop>(&base, &v3, &v4);
    else
      return &base;
  }
};

template <class I>
void Windows::locate_as(int64_t begin, int64_t end, int64_t* in_operand, int64_t* in_result) const {
  static const auto one_key = Located<I>::best();
  const I* entry = indices_.as<I>() + begin * keys_;
  const int64_t operand_step = positions.operand_step(), result_step = positions.result_step();
  positions.runs(begin, end, [&](int64_t operand, int64_t result, int64_t n) {
    if (in_result != nullptr) {
      for (int64_t i = 0; i < n; ++i, result += result_step) in_result[i] = result;
      in_result += n;
    }
    if (keys_ == 1) {
      one_key(entry, n, {operand, operand_step, limit_[0], stride_[0], wrap_[0], clip_},
              in_operand);
      entry += n, in_operand += n;
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      int64_t start = operand + i * operand_step;
      for (int k = 0; k < keys_; ++k) {
        const int64_t at = wrapped(place_of(*entry++), wrap_[k]);
        const int64_t inside = std::clamp(at, int64_t{0}, std::max(limit_[k], int64_t{0}));
        if (!clip_ && (at != inside || at > limit_[k]))
          start = std::numeric_limits<int64_t>::min() / 2;
        start += inside * stride_[k];
      }
      *in_operand++ = start < 0 ? -1 : start;
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
