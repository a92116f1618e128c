// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/window/window_lines.h"

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"

namespace spruce::cpu {
namespace {

using internal::Compute;

template <class T>
constexpr Elements kElements = {sizeof(T), sizeof(Compute<T>), nullptr, nullptr};
template <class T>
constexpr Elements kHalves = {sizeof(T), sizeof(float),
                              [](const void* from, void* to, int64_t n) {
                                widen(static_cast<const T*>(from), static_cast<float*>(to), n);
                              },
                              [](const void* from, void* to, int64_t n) {
                                narrow(static_cast<const float*>(from), static_cast<T*>(to), n);
                              }};

}  // namespace

LineTaps::LineTaps(const WindowPlan& w) : memory_(bytes(w)) {
  const WindowPlan::Axis& a = w.last();
  for (int64_t k = 0; k < a.window; ++k) {
    const int64_t first = k * a.window_dilation - a.low;
    memory_.as<LineTap>()[k] = {run_of(first, a.stride, dilated(a.in, a.dilation), a.out), first};
  }
}

void visit_taps(const WindowPlan& w, int64_t row, int64_t inner, TapFn f, const void* context) {
  int64_t first[kMaxRank], begin[kMaxRank], step[kMaxRank], tap[kMaxRank];
  for (int d = w.rank - 2; d >= 0; --d) {
    const WindowPlan::Axis& a = w.axes[d];
    first[d] = row % a.out * a.stride - a.low;
    row /= a.out;
    // Of neighbouring places of a dilated input only some are elements.
    step[d] = a.window_dilation == 1 ? a.dilation : 1;
    begin[d] = tap[d] = ((-first[d]) % step[d] + step[d]) % step[d];
    if (begin[d] >= a.window) return;
  }
  for (;;) {
    int64_t offset = 0, number = 0;
    bool inside = true;
    for (int d = 0; d + 1 < w.rank && inside; ++d) {
      const WindowPlan::Axis& a = w.axes[d];
      const int64_t at = element_at(first[d] + tap[d] * a.window_dilation, a.dilation, a.in);
      inside = at >= 0;
      offset += at * a.step;
      number = number * a.window + tap[d];
    }
    for (int64_t k = 0; k < inner && inside; ++k)
      f(context, number * w.last().window + k, offset, k);
    int d = w.rank - 2;
    for (; d >= 0; --d) {
      tap[d] += step[d];
      if (tap[d] < w.axes[d].window) break;
      tap[d] = begin[d];
    }
    if (d < 0) return;
  }
}

const Elements& elements_of(Dtype dtype) {
  const Elements* e = nullptr;
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>)
      e = &kHalves<T>;
    else
      e = &kElements<T>;
  });
  return *e;
}

}  // namespace spruce::cpu
