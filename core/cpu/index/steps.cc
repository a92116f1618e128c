// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/steps.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/visit_bits.h"

namespace spruce::cpu {
namespace {

// The compiler knows the step, and shuffles many elements at a time.
template <int kStep, class T>
SPRUCE_INLINE void take(const T* from, int64_t n, T* to) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = from[kStep * i];
}

template <class T>
struct Steps {
  static SPRUCE_INLINE void body(const void* from_v, int64_t step, int64_t n, void* to_v) {
    const T* from = static_cast<const T*>(from_v);
    T* to = static_cast<T*>(to_v);
    switch (step) {
      case 1:
        std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
        return;
      case 0:
        std::fill_n(to, n, *from);
        return;
      case -1:
        return take<-1>(from, n, to);
      case 2:
        return take<2>(from, n, to);
      case 3:
        return take<3>(from, n, to);
      case 4:
        return take<4>(from, n, to);
      default:
        for (int64_t i = 0; i < n; ++i, from += step) to[i] = *from;
    }
  }
  SPRUCE_TARGET_BASE static void base(const void* from, int64_t step, int64_t n, void* to) {
    body(from, step, n, to);
  }
  SPRUCE_TARGET_V3 static void v3(const void* from, int64_t step, int64_t n, void* to) {
    body(from, step, n, to);
  }
  static StepsLoop best() { return pick<StepsLoop>(&base, &v3, &v3); }
};

}  // namespace

StepsLoop steps_loop(int64_t element_bytes) {
  return visit_bits(element_bytes, []<class T>(T) { return Steps<T>::best(); });
}

}  // namespace spruce::cpu
