// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/sort/sort.h"

#include <algorithm>

#include "spruce/core/cpu/sort/ordered_key.h"
#include "spruce/core/cpu/visit_bits.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/sort.h"
#include "spruce/core/workspace.h"

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

template <int kBits, class Key>
struct Digits {
  static constexpr int kCount = (static_cast<int>(sizeof(Key)) * 8 + kBits - 1) / kBits;
  static constexpr size_t kSize = size_t{1} << kBits;
  static constexpr size_t kBytes = kCount * kSize * sizeof(int64_t);  // of the counts
};
template <class Key>
using Narrow = Digits<8, Key>;
template <class Key>
using Wide = Digits<11, Key>;

// Stable: counts and moves digit by digit, from the lowest. Digits in which all keys agree cost
// nothing.
template <int kBits, class E>
void radix_sort(E* a, E* other, int64_t* counts, int64_t n) {
  using D = Digits<kBits, decltype(E::key)>;
  constexpr int kDigits = D::kCount;
  constexpr size_t kSize = D::kSize;
  std::fill_n(counts, kDigits * kSize, int64_t{0});
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d)
      ++counts[d * kSize + ((a[i].key >> (d * kBits)) & (kSize - 1))];
  }
  E* from = a;
  E* to = other;
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

// What it takes to sort n entries E: themselves, as many others, and counts.
template <class E>
struct Memory {
  explicit Memory(int64_t n)
      : entries(workspace_size(static_cast<size_t>(n) * sizeof(E))),
        counts(n <= kInsertion   ? 0
               : n < kWideDigits ? Narrow<decltype(E::key)>::kBytes
                                 : Wide<decltype(E::key)>::kBytes) {}
  size_t bytes() const { return 2 * entries + counts; }
  size_t entries, counts;
};

// Sorts the entries that the memory begins with.
template <class E>
void stable_sort(char* memory, int64_t n) {
  const Memory<E> m(n);
  E* const a = reinterpret_cast<E*>(memory);
  E* const other = reinterpret_cast<E*>(memory + m.entries);
  int64_t* const counts = reinterpret_cast<int64_t*>(memory + 2 * m.entries);
  if (n <= kInsertion)
    insertion_sort(a, n);
  else if (n < kWideDigits)
    radix_sort<8>(a, other, counts, n);
  else
    radix_sort<11>(a, other, counts, n);
}

// Rows along one axis: element j of row r stands at first(r) + j * step.
struct Rows {
  int64_t count, size, step;
  Rows(const Shape& shape, int axis) : size(shape[axis]), step(row_major_strides(shape)[axis]) {
    count = size == 0 ? 0 : shape.numel() / size;
  }
  int64_t first(int64_t row) const { return row / step * size * step + row % step; }
};

template <class T, class Place>
using EntryOf = Entry<OrderedKey<T>, Place>;

// Bytes for order_by over keys of that dtype.
template <class Place>
size_t order_bytes(Dtype key, int64_t n) {
  size_t bytes = 0;
  visit_dtype(key, [&]<class T>(T) { bytes = Memory<EntryOf<T, Place>>(n).bytes(); });
  return bytes;
}

// Orders the n `places` by one key, what is equal as it was.
template <class Place>
void order_by(const View& key, int64_t first, int64_t step, Place* places, int64_t n,
              char* memory) {
  visit_dtype(key.dtype(), [&]<class T>(T) {
    using E = EntryOf<T, Place>;
    E* const entries = reinterpret_cast<E*>(memory);
    const T* x = key.as<T>() + first;
    for (int64_t j = 0; j < n; ++j)
      entries[j] = {ordered_key(x[static_cast<int64_t>(places[j]) * step]), places[j]};
    stable_sort<E>(memory, n);
    for (int64_t j = 0; j < n; ++j) places[j] = entries[j].place;
  });
}

template <class T, class Place>
void move_row(const View& in, const View& out, int64_t first, int64_t step, const Place* places,
              int64_t n) {
  const T* x = in.as<T>() + first;
  T* y = out.as<T>() + first;
  for (int64_t j = 0; j < n; ++j) {
    *y = x[static_cast<int64_t>(places[j]) * step];
    y += step;
  }
}

// Bytes for sorting rows of n; dtype(k) is that of operand k.
template <class Place>
struct RowMemory {
  template <class F>
  RowMemory(const F& dtype, int64_t n, const SortParams& params)
      : places(static_cast<size_t>(n) * sizeof(Place)) {
    for (int64_t k = 0; k < params.num_keys; ++k)
      order = std::max(order, order_bytes<Place>(dtype(static_cast<size_t>(k)), n));
  }
  size_t places, order = 0;
};

template <class Place>
void sort_rows(const KernelArgs& args, const Rows& rows, int64_t begin, int64_t end) {
  const RowMemory<Place> bytes([&](size_t k) { return args.in[k].dtype(); }, rows.size,
                               args.params.get<SortParams>());
  const Workspace held(bytes.places), memory(bytes.order);
  Place* const places = held.as<Place>();
  const int64_t n = rows.size;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t first = rows.first(row);
    for (int64_t j = 0; j < n; ++j) places[j] = static_cast<Place>(j);
    for (int64_t k = args.params.get<SortParams>().num_keys - 1; k >= 0; --k) {
      order_by(args.in[static_cast<size_t>(k)], first, rows.step, places, n, memory.as<char>());
    }
    for (size_t k = 0; k < args.in.size(); ++k) {
      const View &in = args.in[k], &out = args.out[k];
      visit_bits(size_of(in.dtype()),
                 [&]<class T>(T) { move_row<T>(in, out, first, rows.step, places, n); });
    }
  }
}

}  // namespace

size_t sort_workspace(const PrepareArgs& args) {
  const auto& p = args.params.get<SortParams>();
  const Rows rows(args.in[0]->shape, static_cast<int>(p.axis));
  if (rows.count == 0) return 0;
  const auto bytes = [&]<class Place>(Place) {
    const RowMemory<Place> m([&](size_t k) { return args.in[k]->dtype; }, rows.size, p);
    return workspace_size(m.places) + workspace_size(m.order);
  };
  return rows.size <= UINT32_MAX ? bytes(uint32_t{}) : bytes(uint64_t{});
}

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
