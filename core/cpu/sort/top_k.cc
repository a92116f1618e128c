// SPDX-License-Identifier: Apache-2.0
// The kernel of top_k.
#include <algorithm>

#include "spruce/core/cpu/sort/ordered_key.h"
#include "spruce/core/cpu/sort/sort.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/sort.h"
#include "spruce/core/workspace.h"

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

template <class T>
size_t kept_bytes(int64_t k) {
  return static_cast<size_t>(k) * sizeof(Ranked<OrderedKey<T>>);
}

// The best k > 0 of x[0..n): a heap whose top is the worst of those kept.
template <class T>
void best(const T* x, int64_t n, Ranked<OrderedKey<T>>* kept, int64_t k) {
  for (int64_t i = 0; i < n; ++i) {
    const Ranked<OrderedKey<T>> e{ordered_key(x[i]), i};
    if (i < k) {
      kept[i] = e;
      if (i + 1 == k) std::make_heap(kept, kept + k);
    } else if (e < kept[0]) {
      std::pop_heap(kept, kept + k);
      kept[k - 1] = e;
      std::push_heap(kept, kept + k);
    }
  }
  std::sort_heap(kept, kept + k);
}

template <class T, class Place>
void top_k_as(const KernelArgs& args, int64_t k) {
  const int64_t n = args.in[0].shape().back();
  const int64_t rows = args.out[0].numel() / k;
  parallel_for(rows, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    const Workspace memory(kept_bytes<T>(k));
    Ranked<OrderedKey<T>>* const kept = memory.as<Ranked<OrderedKey<T>>>();
    for (int64_t row = begin; row < end; ++row) {
      const T* x = args.in[0].as<T>() + row * n;
      best(x, n, kept, k);
      T* values = args.out[0].as<T>() + row * k;
      Place* places = args.out[1].as<Place>() + row * k;
      for (int64_t j = 0; j < k; ++j) {
        places[j] = static_cast<Place>(kept[j].place);
        values[j] = x[kept[j].place];
      }
    }
  });
}

}  // namespace

size_t top_k_workspace(const PrepareArgs& args) {
  if (args.out[0]->shape.numel() == 0) return 0;
  size_t bytes = 0;
  visit_dtype(args.in[0]->dtype, [&]<class T>(T) {
    bytes = workspace_size(kept_bytes<T>(args.params.get<TopKParams>().k));
  });
  return bytes;
}

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

}  // namespace spruce::cpu
