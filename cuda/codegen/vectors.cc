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
template <int n, class T> SP bool fits(const T* at) {
  return (u64(at) & (sizeof(Pack<T, n>) - 1)) == 0;
}
template <int n, class T> SP void store(const T (&from)[n], T* to) {
  store<n>(from, to, fits<n>(to), n);
}
template <int n, class T> SP void move(const T* from, T* to, i64 there = n) {
  if (n == 1) {
    *to = *from;
  } else if (there >= n && fits<n>(from) && fits<n>(to)) {
    *(Pack<T, n>*)to = *(const Pack<T, n>*)from;
  } else {
    T values[n];
    load<n>(values, from, fits<n>(from), there);
    store<n>(values, to, fits<n>(to), there);
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
  int64_t n = 16 / largest;
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

int64_t neighbours(const Walk& walk, int64_t bytes) {
  if (walk.axes.empty()) return 1;
  const std::vector<int64_t>& steps = walk.axes.back().steps;
  const bool dense = std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
  return dense ? vector_size(walk, bytes) : 1;
}

Walk widened(Walk walk, int64_t n) {
  if (n == 1) return walk;
  Walk::Axis& last = walk.axes.back();
  last.size = (last.size + n - 1) / n;
  for (int64_t& step : last.steps) step *= n;
  if (last.size == 1) walk.axes.pop_back();
  return walk;
}

}  // namespace spruce::cuda
