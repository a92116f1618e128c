// SPDX-License-Identifier: Apache-2.0
// The kernel of searchsorted: several queries at once, so that their loads do not wait for each
// other, and without branches, which nothing could predict.
#include <algorithm>

#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/sort/sort.h"
#include "spruce/core/cpu/targets.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/sort.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 1024;  // queries
constexpr int kTogether = 16;

// How many queries of a dtype go together: one of those that are rarely searched, for less code.
template <class T>
constexpr int kQueries =
    std::is_floating_point_v<T> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>
        ? kTogether
        : 1;

// Elements that stand before the query; a query that is not a number is no business of theirs.
struct Smaller {
  template <class T>
  static SPRUCE_INLINE bool before(T x, T query) {
    return x < query;
  }
};
struct NotLarger {
  template <class T>
  static SPRUCE_INLINE bool before(T x, T query) {
    return x <= query;
  }
};
// NaN stand behind all numbers.
struct Number {
  template <class T>
  static SPRUCE_INLINE bool before(T x, T) {
    return x == x;
  }
};

// places[j] = how many elements of x[0..n), n > 0, stand before queries[j].
template <class Order, int kCount, class T>
SPRUCE_INLINE void count_before(const T* x, int64_t n, const T* queries, int64_t* places) {
  int64_t low[kCount] = {};
  int64_t left = n;
  while (left > 1) {
    const int64_t half = left / 2;
    left -= half;
#pragma GCC unroll 16
    for (int j = 0; j < kCount; ++j)
      low[j] += Order::before(x[low[j] + half - 1], queries[j]) ? half : 0;
  }
  for (int j = 0; j < kCount; ++j)
    places[j] = low[j] + (Order::before(x[low[j]], queries[j]) ? 1 : 0);
}

// The result, i32 or i64: one body serves both.
struct Places {
  void* data;
  bool wide;
  Places from(int64_t i) const { return {static_cast<char*>(data) + i * (wide ? 8 : 4), wide}; }
  SPRUCE_INLINE void put(int64_t i, int64_t place) const {
    if (wide)
      static_cast<int64_t*>(data)[i] = place;
    else
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(place);
  }
};

template <class Order, class T>
void search_row(const T* x, int64_t n, const T* queries, int64_t count, const Places& places) {
  int64_t found[kTogether];
  int64_t i = 0;
  if constexpr (kQueries < T >> 1) {
    for (; i + kTogether <= count; i += kTogether) {
      count_before<Order, kTogether>(x, n, queries + i, found);
      for (int j = 0; j < kTogether; ++j) places.put(i + j, found[j]);
    }
  }
  for (; i < count; ++i) {
    count_before<Order, 1>(x, n, queries + i, found);
    places.put(i, found[0]);
  }
  if constexpr (std::is_integral_v<T>) return;
  // Before a NaN stand all numbers, and behind the other NaN it goes to the end.
  for (i = 0; i < count; ++i) {
    if (queries[i] == queries[i]) continue;
    found[0] = n;
    if constexpr (std::is_same_v<Order, Smaller>) count_before<Number, 1>(x, n, queries + i, found);
    places.put(i, found[0]);
  }
}

// `n` elements and `per_row` queries in each of the rows.
template <class T>
void search_rows(const T* sorted, int64_t n, const T* queries, int64_t per_row, int64_t rows,
                 const Places& out, bool right) {
  parallel_for(rows * per_row, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / per_row, stop = std::min(end, (row + 1) * per_row);
      if (right)
        search_row<NotLarger>(sorted + row * n, n, queries + i, stop - i, out.from(i));
      else
        search_row<Smaller>(sorted + row * n, n, queries + i, stop - i, out.from(i));
      i = stop;
    }
  });
}

struct Sizes {
  Sizes(const Shape& sorted, const Shape& queries)
      : n(sorted.back()), count(queries.numel()), rows(n == 0 ? 0 : sorted.numel() / n) {}
  // Halves become floats first where an element is read more often than once.
  template <class T>
  bool widened() const {
    constexpr bool half = kIsHalf<T>;
    return half && count > 0 && n > 0 && count / rows > n / kTogether;
  }
  size_t sorted_bytes() const { return bytes_of(rows * n); }
  size_t queries_bytes() const { return bytes_of(count); }

  int64_t n, count, rows;
};

template <class T>
void searchsorted_as(const KernelArgs& args, bool right) {
  const View &sorted = args.in[0], &queries = args.in[1];
  const Sizes sizes(sorted.shape(), queries.shape());
  const int64_t n = sizes.n, count = sizes.count;
  if (count == 0) return;
  const Places out{args.out[0].data, args.out[0].dtype() == Dtype::kInt64};
  if (n == 0) {
    for (int64_t i = 0; i < count; ++i) out.put(i, 0);
    return;
  }
  const int64_t rows = sizes.rows, per_row = count / rows;
  if constexpr (kIsHalf<T>) {
    if (sizes.widened<T>()) {
      const Workspace x(sizes.sorted_bytes()), q(sizes.queries_bytes());
      widen(sorted.as<T>(), x.as<float>(), rows * n);
      widen(queries.as<T>(), q.as<float>(), count);
      return search_rows(x.as<float>(), n, q.as<float>(), per_row, rows, out, right);
    }
  }
  search_rows(sorted.as<T>(), n, queries.as<T>(), per_row, rows, out, right);
}

}  // namespace

size_t searchsorted_workspace(const PrepareArgs& args) {
  const Sizes sizes(args.in[0]->shape, args.in[1]->shape);
  bool widened = false;
  visit_dtype(args.in[0]->dtype, [&]<class T>(T) { widened = sizes.widened<T>(); });
  return widened ? workspace_size(sizes.sorted_bytes()) + workspace_size(sizes.queries_bytes()) : 0;
}

void searchsorted_kernel(const KernelArgs& args) {
  const bool right = args.params.get<SearchSortedParams>().right;
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) { searchsorted_as<T>(args, right); });
}

}  // namespace spruce::cpu
