// SPDX-License-Identifier: Apache-2.0
// Kernels of top_k and searchsorted.
#include <algorithm>
#include <vector>

#include "spruce/core/cpu/ordered_key.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/sort.h"
#include "spruce/core/rules/sort.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 8192;

// Smaller means further in front: a larger element, or an equal one at an earlier place.
template <class Key>
struct Ranked {
  Key key;
  int64_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.key != b.key ? a.key > b.key : a.place < b.place;
  }
};

// The best k of x[0..n): a heap whose top is the worst of those kept.
template <class T>
void best(const T* x, int64_t n, std::vector<Ranked<OrderedKey<T>>>& kept, int64_t k) {
  kept.clear();
  for (int64_t i = 0; i < n; ++i) {
    const Ranked<OrderedKey<T>> e{ordered_key(x[i]), i};
    if (i < k) {
      kept.push_back(e);
      if (i + 1 == k) std::make_heap(kept.begin(), kept.end());
    } else if (e < kept.front()) {
      std::pop_heap(kept.begin(), kept.end());
      kept.back() = e;
      std::push_heap(kept.begin(), kept.end());
    }
  }
  std::sort_heap(kept.begin(), kept.end());
}

template <class T, class Place>
void top_k_as(const KernelArgs& args, int64_t k) {
  const int64_t n = args.in[0].shape().back();
  const int64_t rows = args.out[0].numel() / k;
  parallel_for(rows, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    std::vector<Ranked<OrderedKey<T>>> kept;
    kept.reserve(static_cast<size_t>(k));
    for (int64_t row = begin; row < end; ++row) {
      const T* x = args.in[0].as<T>() + row * n;
      best(x, n, kept, k);
      T* values = args.out[0].as<T>() + row * k;
      Place* places = args.out[1].as<Place>() + row * k;
      for (int64_t j = 0; j < k; ++j) {
        places[j] = static_cast<Place>(kept[static_cast<size_t>(j)].place);
        values[j] = x[kept[static_cast<size_t>(j)].place];
      }
    }
  });
}

// The number of elements of x[0..n), which ascends, that stand before the query.
template <class T>
int64_t rank_of(T query, const T* x, int64_t n, bool right) {
  const auto key = ordered_key(query);
  int64_t low = 0;
  while (n > 0) {
    const int64_t half = n / 2;
    const auto middle = ordered_key(x[low + half]);
    const bool before = middle < key || (right && middle == key);
    low = before ? low + half + 1 : low;
    n = before ? n - half - 1 : half;
  }
  return low;
}

template <class T, class Place>
void searchsorted_as(const KernelArgs& args, bool right) {
  const Shape& sorted = args.in[0].shape();
  const int64_t n = sorted.back(), queries = args.in[1].numel();
  int64_t rows = 1;
  for (int i = 0; i + 1 < sorted.rank(); ++i) rows *= sorted[i];
  if (queries == 0) return;
  const int64_t per_row = queries / rows;
  parallel_for(queries, kGrain / 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = args.in[0].as<T>() + i / per_row * n;
      args.out[0].as<Place>()[i] =
          static_cast<Place>(rank_of(args.in[1].as<T>()[i], row, n, right));
    }
  });
}

}  // namespace

void top_k_kernel(const KernelArgs& args) {
  const int64_t k = args.params.get<TopKParams>().k;
  if (args.out[0].numel() == 0) return;
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if (args.out[1].dtype() == Dtype::kInt32)
      top_k_as<T, int32_t>(args, k);
    else
      top_k_as<T, int64_t>(args, k);
  });
}

void searchsorted_kernel(const KernelArgs& args) {
  const bool right = args.params.get<SearchSortedParams>().right;
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if (args.out[0].dtype() == Dtype::kInt32)
      searchsorted_as<T, int32_t>(args, right);
    else
      searchsorted_as<T, int64_t>(args, right);
  });
}

}  // namespace spruce::cpu
