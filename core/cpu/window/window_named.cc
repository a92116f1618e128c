// SPDX-License-Identifier: Apache-2.0
// Elements of windows that indices name.
#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/cpu/window/window_quads.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kThread = 1 << 15;  // elements that are worth a thread

// What a tap adds to the place of each axis, and to the offset of an element.
class Taps {
 public:
  static size_t bytes(const WindowPlan& w) {
    return static_cast<size_t>((w.rank + 1) * w.taps()) * sizeof(int64_t);
  }
  explicit Taps(const WindowPlan& w) : rank_(w.rank), count_(w.taps()), memory_(bytes(w)) {
    int64_t* const places = memory_.as<int64_t>();
    int64_t* const offsets = places + rank_ * count_;
    for (int64_t t = 0; t < count_; ++t) {
      int64_t rest = t;
      offsets[t] = 0;
      for (int d = rank_ - 1; d >= 0; --d) {
        const int64_t more = rest % w.axes[d].window * w.axes[d].window_dilation;
        places[t * rank_ + d] = more;
        offsets[t] += more * w.axes[d].step;
        rest /= w.axes[d].window;
      }
    }
  }
  int64_t count() const { return count_; }
  const int64_t* of(int64_t tap) const { return memory_.as<int64_t>() + tap * rank_; }
  const int64_t* offsets() const { return memory_.as<int64_t>() + rank_ * count_; }

 private:
  int rank_;
  int64_t count_;
  Workspace memory_;
};

constexpr int64_t kBlock = 256;  // windows whose elements are looked up at once

// The offset of the element that the tap names of the window at these places; -1 for none.
int64_t named(const WindowPlan& w, const Taps& taps, const int64_t* place, int64_t tap) {
  if (tap < 0 || tap >= taps.count()) return -1;
  const int64_t* const more = taps.of(tap);
  int64_t offset = 0;
  for (int d = 0; d < w.rank; ++d) {
    const WindowPlan::Axis& a = w.axes[d];
    const int64_t at = element_at(place[d] + more[d], a.dilation, a.in);
    if (at < 0) return -1;
    offset += at * a.step;
  }
  return offset;
}

// offsets[i - begin]: of the element that window i names; -1 where the index names none.
void find_named(const WindowPlan& w, const Taps& taps, const int32_t* index, int64_t begin,
                int64_t end, int64_t* offsets) {
  const int last = w.rank - 1;
  int64_t cell[kMaxRank], place[kMaxRank];
  int64_t rest = begin;
  for (int d = last; d >= 0; --d) {
    cell[d] = rest % w.axes[d].out;
    rest /= w.axes[d].out;
    place[d] = cell[d] * w.axes[d].stride - w.axes[d].low;
  }
  // The cells of a line whose windows lie within the input: there a tap adds one number.
  const WindowPlan::Axis& inner = w.axes[last];
  const int64_t first = run_of(-inner.low, inner.stride, inner.in, inner.out).begin,
                behind = run_of(inner.reach() - inner.low, inner.stride, inner.in, inner.out).end;
  while (begin < end) {
    const int64_t from = cell[last], to = std::min(inner.out, from + end - begin);
    bool inside = inner.dilation == 1;
    int64_t line = 0;
    for (int d = 0; d < last; ++d) {
      const WindowPlan::Axis& a = w.axes[d];
      inside = inside && a.dilation == 1 && place[d] >= 0 && place[d] + a.reach() < a.in;
      line += place[d] * a.step;
    }
    const int64_t low = inside ? std::clamp(first, from, to) : to,
                  high = inside ? std::clamp(behind, low, to) : to;
    const int32_t* const tap = index + begin - from;
    const auto by_axes = [&](int64_t c, int64_t stop) {
      for (; c < stop; ++c) {
        place[last] = c * inner.stride - inner.low;
        offsets[c - from] = named(w, taps, place, tap[c]);
      }
    };
    by_axes(from, low);
    const int64_t* const more = taps.offsets();
    const auto count = static_cast<uint64_t>(taps.count());
    for (int64_t c = low; c < high; ++c) {
      const int64_t at = line + (c * inner.stride - inner.low) * inner.step;
      offsets[c - from] = static_cast<uint64_t>(tap[c]) < count ? at + more[tap[c]] : -1;
    }
    by_axes(high, to);
    begin += to - from, offsets += to - from;
    cell[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      place[d] += w.axes[d].stride;
      if (++cell[d] < w.axes[d].out) break;
      cell[d] = 0;
      place[d] = -w.axes[d].low;
    }
  }
}

// Calls f(window, offset of the element) for the windows begin..end.
template <class F>
void each_named(const WindowPlan& w, const Taps& taps, const int32_t* index, int64_t begin,
                int64_t end, const F& f) {
  int64_t offsets[kBlock];
  for (; begin < end; begin += kBlock) {
    const int64_t count = std::min(kBlock, end - begin);
    find_named(w, taps, index, begin, begin + count, offsets);
    for (int64_t i = 0; i < count; ++i) f(begin + i, offsets[i]);
  }
}

template <class C>
SPRUCE_INLINE C sum(C a, C x) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x));
  else
    return a + x;
}

// Halves are summed up in memory of their own.
template <class T>
size_t sums_bytes(int64_t size) {
  return kIsHalf<T> ? bytes_of(size) : 0;
}

}  // namespace

size_t window_gather_workspace(const PrepareArgs& args) {
  if (args.out[0]->shape.numel() == 0) return 0;
  const auto& p = args.params.get<WindowGatherParams>();
  return workspace_size(Taps::bytes({args.in[0]->shape, args.out[0]->shape, rules::windows_of(p)}));
}

void window_gather_kernel(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const auto& p = args.params.get<WindowGatherParams>();
  if (quad_kernel(QuadOp::kGather, args, rules::windows_of(p))) return;
  const WindowPlan w(args.in[0].shape(), args.out[0].shape(), rules::windows_of(p));
  const Taps taps(w);
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    const T* const x = args.in[0].as<T>();
    T* const out = args.out[0].as<T>();
    const T fill = static_cast<T>(static_cast<internal::Compute<T>>(p.fill));
    parallel_for(args.out[0].numel(), kThread, [&](int64_t begin, int64_t end) {
      each_named(w, taps, args.in[1].as<int32_t>(), begin, end,
                 [&](int64_t i, int64_t offset) { out[i] = offset < 0 ? fill : x[offset]; });
    });
  });
}

size_t window_scatter_add_workspace(const PrepareArgs& args) {
  const auto& p = args.params.get<WindowScatterParams>();
  const Aval& out = *args.out[0];
  size_t bytes = workspace_size(Taps::bytes({out.shape, args.in[0]->shape, rules::windows_of(p)}));
  visit_dtype(out.dtype,
              [&]<class T>(T) { bytes += workspace_size(sums_bytes<T>(out.shape.numel())); });
  return bytes;
}

void window_scatter_add_kernel(const KernelArgs& args) {
  const auto& p = args.params.get<WindowScatterParams>();
  if (quad_kernel(QuadOp::kScatter, args, rules::windows_of(p))) return;
  const WindowPlan w(args.out[0].shape(), args.in[0].shape(), rules::windows_of(p));
  const Taps taps(w);
  const int64_t windows = args.in[0].numel(), size = args.out[0].numel();
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    using C = internal::Compute<T>;
    const Workspace wide(sums_bytes<T>(size));
    C* sums;
    if constexpr (kIsHalf<T>)
      sums = wide.as<C>();
    else
      sums = args.out[0].as<T>();
    std::fill(sums, sums + size, C{});
    const T* const x = args.in[0].as<T>();
    const auto add = [&](int64_t begin, int64_t end) {
      each_named(w, taps, args.in[1].as<int32_t>(), begin, end, [&](int64_t i, int64_t offset) {
        if (offset >= 0) sums[offset] = sum(sums[offset], static_cast<C>(x[i]));
      });
    };
    if (windows > 0 && w.plain) {
      const int64_t parts = w.axes[0].out, each = windows / parts;
      parallel_for(
          parts * 64, std::max<int64_t>(64, 64 * kThread / each),
          [&](int64_t begin, int64_t end) { add(begin / 64 * each, (end + 63) / 64 * each); });
    } else {
      add(0, windows);
    }
    if constexpr (kIsHalf<T>) narrow(sums, args.out[0].as<T>(), size);
  });
}

}  // namespace spruce::cpu
