// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/sort.h"

#include <algorithm>
#include <array>
#include <vector>

#include "spruce/core/cpu/ordered_key.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/rules/sort.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 8192;    // elements that are worth a thread of their own
constexpr int64_t kInsertion = 48;  // up to here, insertion beats counting
constexpr int64_t kWideDigits =
    1 << 18;  // from here on, out of the caches, fewer and wider digits pay

template <class Key, class Place>
struct Entry {
  Key key;
  Place place;
};

template <class E>
void insertion_sort(E* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const E e = a[i];
    int64_t j = i;
    for (; j > 0 && e.key < a[j - 1].key; --j) a[j] = a[j - 1];
    a[j] = e;
  }
}

// Stable: counts and moves digit by digit, from the lowest. Digits in which all keys agree cost
// nothing.
template <int kBits, class E>
void radix_sort(E* a, E* scratch, int64_t n) {
  using Key = decltype(E::key);
  constexpr int kDigits = (static_cast<int>(sizeof(Key)) * 8 + kBits - 1) / kBits;
  constexpr size_t kSize = size_t{1} << kBits;
  std::vector<int64_t> counts(kDigits * kSize);
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d)
      ++counts[d * kSize + ((a[i].key >> (d * kBits)) & (kSize - 1))];
  }
  E* from = a;
  E* to = scratch;
  for (int d = 0; d < kDigits; ++d) {
    int64_t* count = &counts[d * kSize];
    const auto digit = [d](const E& e) {
      return static_cast<size_t>((e.key >> (d * kBits)) & (kSize - 1));
    };
    if (count[digit(from[0])] == n) continue;
    int64_t at = 0;
    for (size_t k = 0; k < kSize; ++k) at += std::exchange(count[k], at);
    for (int64_t i = 0; i < n; ++i) to[count[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != a) std::copy(from, from + n, a);
}

template <class E>
void stable_sort(E* a, E* scratch, int64_t n) {
  if (n <= kInsertion)
    insertion_sort(a, n);
  else if (n < kWideDigits)
    radix_sort<8>(a, scratch, n);
  else
    radix_sort<11>(a, scratch, n);
}

// Rows along one axis: element j of row r stands at first(r) + j * step.
struct Rows {
  int64_t count, size, step;
  Rows(const Shape& shape, int axis) : size(shape[axis]), step(row_major_strides(shape)[axis]) {
    count = size == 0 ? 0 : shape.numel() / size;
  }
  int64_t first(int64_t row) const { return row / step * size * step + row % step; }
};

// Orders `places` by one key, what is equal as it was.
template <class Place>
void order_by(const View& key, int64_t first, int64_t step, std::vector<Place>& places,
              std::vector<char>& memory) {
  visit_dtype(key.dtype(), [&]<class T>(T) {
    using E = Entry<OrderedKey<T>, Place>;
    const size_t n = places.size();
    memory.resize(2 * n * sizeof(E));
    E* entries = reinterpret_cast<E*>(memory.data());
    const T* x = key.as<T>() + first;
    for (size_t j = 0; j < n; ++j)
      entries[j] = {ordered_key(x[static_cast<int64_t>(places[j]) * step]), places[j]};
    stable_sort(entries, entries + n, static_cast<int64_t>(n));
    for (size_t j = 0; j < n; ++j) places[j] = entries[j].place;
  });
}

template <class T, class Place>
void move_row(const View& in, const View& out, int64_t first, int64_t step,
              const std::vector<Place>& places) {
  const T* x = in.as<T>() + first;
  T* y = out.as<T>() + first;
  for (const Place place : places) {
    *y = x[static_cast<int64_t>(place) * step];
    y += step;
  }
}

template <class Place>
void sort_rows(const KernelArgs& args, const Rows& rows, int64_t begin, int64_t end) {
  std::vector<Place> places(static_cast<size_t>(rows.size));
  std::vector<char> memory;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t first = rows.first(row);
    for (size_t j = 0; j < places.size(); ++j) places[j] = static_cast<Place>(j);
    for (int64_t k = args.params.get<SortParams>().num_keys - 1; k >= 0; --k) {
      order_by(args.in[static_cast<size_t>(k)], first, rows.step, places, memory);
    }
    for (size_t k = 0; k < args.in.size(); ++k) {
      const View &in = args.in[k], &out = args.out[k];
      switch (size_of(in.dtype())) {
        case 1:
          move_row<uint8_t>(in, out, first, rows.step, places);
          break;
        case 2:
          move_row<uint16_t>(in, out, first, rows.step, places);
          break;
        case 4:
          move_row<uint32_t>(in, out, first, rows.step, places);
          break;
        default:
          move_row<uint64_t>(in, out, first, rows.step, places);
      }
    }
  }
}

}  // namespace

void sort_kernel(const KernelArgs& args) {
  const Rows rows(args.in[0].shape(), static_cast<int>(args.params.get<SortParams>().axis));
  if (rows.count == 0) return;
  parallel_for(rows.count, std::max<int64_t>(1, kGrain / rows.size),
               [&](int64_t begin, int64_t end) {
                 if (rows.size <= UINT32_MAX)
                   sort_rows<uint32_t>(args, rows, begin, end);
                 else
                   sort_rows<uint64_t>(args, rows, begin, end);
               });
}

}  // namespace spruce::cpu
