// SPDX-License-Identifier: Apache-2.0
// Elements of windows that indices name.
#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/cpu/window/window_quads.h"
#include "spruce/core/cpu/workspace.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kThread = 1 << 15;  // elements that are worth a thread

// What a tap adds to the place of each axis.
class Taps {
 public:
  static size_t bytes(const WindowPlan& w) {
    return static_cast<size_t>(w.rank * w.taps()) * sizeof(int64_t);
  }
  explicit Taps(const WindowPlan& w) : rank_(w.rank), count_(w.taps()), memory_(bytes(w)) {
    int64_t* const places = memory_.as<int64_t>();
    for (int64_t t = 0; t < count_; ++t) {
      int64_t rest = t;
      for (int d = rank_ - 1; d >= 0; --d) {
        places[t * rank_ + d] = rest % w.axes[d].window * w.axes[d].window_dilation;
        rest /= w.axes[d].window;
      }
    }
  }
  int64_t count() const { return count_; }
  const int64_t* of(int64_t tap) const { return memory_.as<int64_t>() + tap * rank_; }

 private:
  int rank_;
  int64_t count_;
  Workspace memory_;
};

constexpr int64_t kBlock = 256;  // windows whose elements are looked up at once

// offsets[i - begin]: of the element that window i names; -1 where the index names none.
void find_named(const WindowPlan& w, const Taps& taps, const int32_t* index, int64_t begin,
                int64_t end, int64_t* offsets) {
  int64_t cell[kMaxRank], place[kMaxRank];
  int64_t rest = begin;
  for (int d = w.rank - 1; d >= 0; --d) {
    cell[d] = rest % w.axes[d].out;
    rest /= w.axes[d].out;
    place[d] = cell[d] * w.axes[d].stride - w.axes[d].low;
  }
  for (int64_t i = begin; i < end; ++i) {
    const int64_t tap = index[i];
    int64_t offset = 0;
    bool inside = tap >= 0 && tap < taps.count();
    const int64_t* const more = taps.of(inside ? tap : 0);
    for (int d = 0; d < w.rank && inside; ++d) {
      const WindowPlan::Axis& a = w.axes[d];
      const int64_t at = element_at(place[d] + more[d], a.dilation, a.in);
      inside = at >= 0;
      offset += at * a.step;
    }
    *offsets++ = inside ? offset : -1;
    for (int d = w.rank - 1; d >= 0; --d) {
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
