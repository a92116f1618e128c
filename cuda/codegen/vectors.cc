// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/vectors.h"

#include <algorithm>

namespace spruce::cuda {

std::string_view vector_prelude() {
  return R"cuda(
namespace sp {
template <class T, int n> struct alignas(sizeof(T) * n) Pack { T v[n]; };
// n neighbours, of which `there` exist; the others are read as the first one.
template <int n, class T> SP void load(T (&to)[n], const T* from, bool aligned, i64 there) {
  if (aligned && there >= n) {
    const Pack<T, n> p = *(const Pack<T, n>*)from;
#pragma unroll
    for (int j = 0; j < n; ++j) to[j] = p.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < n; ++j) to[j] = from[j < there ? j : 0];
  }
}
template <int n, class T> SP void store(const T (&from)[n], T* to, bool aligned, i64 there) {
  if (aligned && there >= n) {
    Pack<T, n> p;
#pragma unroll
    for (int j = 0; j < n; ++j) p.v[j] = from[j];
    *(Pack<T, n>*)to = p;
  } else {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      if (j < there) to[j] = from[j];
    }
  }
}
}  // namespace sp
)cuda";
}

int64_t vector_size(const Walk& walk, int64_t largest) {
  if (walk.axes.empty()) return 1;
  const Walk::Axis& inner = walk.axes.back();
  for (const int64_t step : inner.steps) {
    if (step != 0 && step != 1) return 1;
  }
  int64_t n = std::min<int64_t>(8, 16 / largest);
  if (walk.axes.size() == 1) return n;
  // Each row begins with a whole vector.
  for (; n > 1; n /= 2) {
    bool fits = inner.size % n == 0;
    for (size_t a = 0; a + 1 < walk.axes.size(); ++a) {
      for (size_t k = 0; k < inner.steps.size(); ++k)
        fits = fits && (inner.steps[k] == 0 || walk.axes[a].steps[k] % n == 0);
    }
    if (fits) break;
  }
  return n;
}

}  // namespace spruce::cuda
