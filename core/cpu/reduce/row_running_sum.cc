// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/row_running_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kPiece = 16384;  // elements: shorter rows are not worth a second thread

template <class T>
struct Loops {
  static constexpr int kLanes = 32 / sizeof(T);
  typedef T Vector __attribute__((vector_size(32)));

  // Adds to lane i what stood in lane i - kBy.
  template <int kBy, int... kLane>
  static SPRUCE_INLINE void add_lower_lanes(Vector& v, std::integer_sequence<int, kLane...>) {
    v += __builtin_shufflevector(v, Vector{}, (kLane < kBy ? kLanes : kLane - kBy)...);
  }

  static SPRUCE_INLINE T sums_body(const T* x, T* y, int64_t n, T before) {
    constexpr auto kIndex = std::make_integer_sequence<int, kLanes>{};
    Vector total = Vector{} + before;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      Vector v;
      std::memcpy(&v, x + i, sizeof v);
      add_lower_lanes<1>(v, kIndex);
      add_lower_lanes<2>(v, kIndex);
      if constexpr (kLanes == 8) add_lower_lanes<4>(v, kIndex);
      const Vector sums = total + v;
      std::memcpy(y + i, &sums, sizeof sums);
      total += v[kLanes - 1];
    }
    T last = total[0];
    for (; i < n; ++i) y[i] = last += x[i];
    return last;
  }
  static SPRUCE_INLINE T sum_body(const T* x, int64_t n) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  }

  SPRUCE_TARGET_BASE static T sums_base(const T* x, T* y, int64_t n, T before) {
    for (int64_t i = 0; i < n; ++i) y[i] = before += x[i];
    return before;
  }
  SPRUCE_TARGET_V3 static T sums_v3(const T* x, T* y, int64_t n, T before) {
    return sums_body(x, y, n, before);
  }
  static auto best_sums() { return pick(&sums_base, &sums_v3, &sums_v3); }
  SPRUCE_TARGET_BASE static T sum_base(const T* x, int64_t n) { return sum_body(x, n); }
  SPRUCE_TARGET_V3 static T sum_v3(const T* x, int64_t n) { return sum_body(x, n); }
};

// One row on several threads: the sums of its pieces, then the running sums of each.
template <class T>
void run_pieces(const T* x, T* y, int64_t n) {
  using L = Loops<T>;
  static const auto sums = L::best_sums();
  static const auto sum = pick(&L::sum_base, &L::sum_v3, &L::sum_v3);
  const int64_t pieces = ceil_div(n, kPiece);
  const auto length = [&](int64_t piece) { return std::min(kPiece, n - piece * kPiece); };
  std::vector<T> before(static_cast<size_t>(pieces));
  parallel_pieces(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece)
      before[static_cast<size_t>(piece)] = sum(x + piece * kPiece, length(piece));
  });
  T total = 0;
  for (T& b : before) b = std::exchange(total, total + b);
  parallel_pieces(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece)
      sums(x + piece * kPiece, y + piece * kPiece, length(piece),
           before[static_cast<size_t>(piece)]);
  });
}

template <class T>
void run(const T* x, T* y, int64_t rows, int64_t n) {
  if (rows < threads() && n > kPiece) {
    for (int64_t row = 0; row < rows; ++row) run_pieces(x + row * n, y + row * n, n);
    return;
  }
  static const auto sums = Loops<T>::best_sums();
  parallel_pieces(rows, std::max<int64_t>(1, kPiece / n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) sums(x + row * n, y + row * n, n, 0);
  });
}

}  // namespace

void row_running_sums(const uint32_t* x, uint32_t* y, int64_t rows, int64_t n) {
  run(x, y, rows, n);
}
void row_running_sums(const uint64_t* x, uint64_t* y, int64_t rows, int64_t n) {
  run(x, y, rows, n);
}

}  // namespace spruce::cpu
