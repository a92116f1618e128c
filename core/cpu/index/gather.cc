// SPDX-License-Identifier: Apache-2.0
// The kernel of gather: loops for single elements and for rows, and one for all windows.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "spruce/core/cpu/index/row_places.h"
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/visit_bits.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;    // elements that are worth a thread of their own
constexpr int64_t kRowGrain = 32768;  // the same of rows
constexpr int64_t kBlock = 256;       // positions that are located at once

// Calls f(operand places, result places, how many) for blocks of the positions begin..end.
template <class F>
void for_blocks(const Windows& w, int64_t begin, int64_t end, const F& f) {
  int64_t in_operand[kBlock], in_result[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    w.locate(at, at + n, in_operand, in_result);
    f(in_operand, in_result, n);
  }
}

// Elements at several places, side by side.
template <class Vector, class T, size_t... kLane>
SPRUCE_INLINE Vector together(const T* x, const int32_t* at, std::index_sequence<kLane...>) {
  return Vector{x[at[kLane]]...};
}

// y[i] = x[at[i]]. Elements are put together to 16 bytes: one store for each takes twice as long as
// to load them.
template <class T>
SPRUCE_INLINE void pick_places(const T* x, const int32_t* at, int64_t n, T* y) {
  constexpr int64_t kLanes = 16 / sizeof(T);
  using Vector [[gnu::vector_size(16)]] = T;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v = together<Vector>(x, at + i, std::make_index_sequence<kLanes>());
    std::memcpy(y + i, &v, sizeof v);
  }
  for (; i < n; ++i) y[i] = x[at[i]];
}

// y[i] = x[index[i]], the index wrapped and moved to 0..last. First many indices, then their
// elements: both loops take several at once.
template <class I, class T>
SPRUCE_INLINE void pick_body(const I* index, int64_t n, const T* x, int32_t last, int32_t wrap,
                             T* y) {
  int32_t at[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    for (int64_t i = 0; i < count; ++i) {
      I entry = wrapped<I>(index[begin + i], wrap);
      entry = entry < 0 ? 0 : entry;
      at[i] = static_cast<int32_t>(entry > last ? last : entry);
    }
    pick_places(x, at, count, y + begin);
  }
}

template <class I, class T>
struct Pick {
  using Loop = void (*)(const I*, int64_t, const T*, int32_t, int32_t, T*);
  SPRUCE_TARGET_BASE static void base(const I* index, int64_t n, const T* x, int32_t last,
                                      int32_t wrap, T* y) {
    pick_body(index, n, x, last, wrap, y);
  }
  SPRUCE_TARGET_V3 static void v3(const I* index, int64_t n, const T* x, int32_t last, int32_t wrap,
                                  T* y) {
    pick_body(index, n, x, last, wrap, y);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

// Elements at n indices, from places `step` apart, the index counting `stride` elements.
template <class I, class T>
void pick_apart(const I* index, int64_t n, const T* x, int64_t step, int64_t stride, int64_t last,
                int64_t wrap, bool clip, T* y, int64_t y_step) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = static_cast<int64_t>(index[i]);
    if constexpr (std::is_same_v<I, uint64_t>)
      at = at < 0 ? std::numeric_limits<int64_t>::max() : at;
    at = wrapped(at, wrap);
    const int64_t inside = std::clamp<int64_t>(at, 0, last);
    y[i * y_step] = clip || at == inside ? x[i * step + inside * stride] : T{};
  }
}

// The elements at the positions begin..end.
template <class I, class T>
[[gnu::noinline]] void gather_some_elements(const Windows& w, const T* operand, T* result,
                                            int64_t begin, int64_t end) {
  const int64_t step = w.positions.operand_step(), y_step = w.positions.result_step(),
                stride = w.key_stride(), last = w.last_place(), wrap = w.wrap();
  const bool dense = w.clip() && step == 0 && stride == 1 && y_step == 1 && last < INT32_MAX;
  const I* index = w.indices().template as<I>() + begin;
  w.positions.runs(begin, end, [&](int64_t from, int64_t to, int64_t n) {
    const T* x = operand + from;
    T* y = result + to;
    if constexpr (std::is_same_v<I, int32_t> || std::is_same_v<I, int64_t>) {
      static const auto loop = Pick<I, T>::best();
      if (dense) {
        loop(index, n, x, static_cast<int32_t>(last), static_cast<int32_t>(wrap), y);
        index += n;
        return;
      }
    }
    pick_apart(index, n, x, step, stride, last, wrap, w.clip(), y, y_step);
    index += n;
  });
}

template <class T>
void gather_elements(const Windows& w, const T* operand, T* result) {
  parallel_for(w.positions.size(), kGrain, [&](int64_t begin, int64_t end) {
    visit_dtype(w.indices().dtype(), [&]<class I>(I) {
      if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>)
        gather_some_elements<I>(w, operand, result, begin, end);
    });
  });
}

// Windows that are one run of bytes each, which follow each other in the result.
void gather_rows(const Windows& w, const View& operand, const View& result) {
  const int64_t size = size_of(operand.dtype()), window = w.window.size();
  const RowCopy rows{operand.as<char>(), nullptr, 0, size, window * size};
  parallel_for(w.positions.size(), std::max<int64_t>(1, kRowGrain / window),
               [&](int64_t begin, int64_t end) {
                 RowPlaces places(w, begin, end);
                 RowCopy some = rows;
                 for (int64_t at = begin; at < end; at += RowPlaces::kMost) {
                   const int64_t count = std::min(RowPlaces::kMost, end - at);
                   places.find(at, count, some);
                   copy_rows(some, count, result.as<char>() + at * rows.bytes, rows.bytes);
                 }
               });
}

// The positions first..last and the steps begin..end of their windows.
template <class T>
void gather_part(const Windows& w, const T* operand, T* result, int64_t first, int64_t last,
                 int64_t begin, int64_t end) {
  const int64_t from_step = w.window.operand_step(), to_step = w.window.result_step();
  for_blocks(w, first, last, [&](const int64_t* from, const int64_t* to, int64_t count) {
    if (w.window.rows()) {
      for (int64_t i = 0; i < count; ++i) {
        w.window.runs(begin, end, [&](int64_t from_run, int64_t to_run, int64_t n) {
          const T* x = operand + from[i] + from_run;
          T* y = result + to[i] + to_run;
          if (from[i] < 0) {
            std::fill_n(y, n, T{});
          } else if (from_step == 1) {
            std::memcpy(y, x, static_cast<size_t>(n) * sizeof(T));
          } else {
            for (int64_t j = 0; j < n; ++j) y[j] = x[j * from_step];
          }
        });
      }
      return;
    }
    w.window.runs(begin, end, [&](int64_t from_run, int64_t to_run, int64_t n) {
      for (int64_t j = 0; j < n; ++j) {
        const T* x = operand + from_run + j * from_step;
        T* y = result + to_run + j * to_step;
        for (int64_t i = 0; i < count; ++i) y[to[i]] = from[i] < 0 ? T{} : x[from[i]];
      }
    });
  });
}

template <class T>
void gather_as(const KernelArgs& args, const Windows& w) {
  const T* operand = args.in[0].as<T>();
  T* result = args.out[0].as<T>();
  const int64_t positions = w.positions.size(), window = w.window.size();
  if (positions == 0 || window == 0) return;
  if (window == 1 && w.one_key() && w.last_place() >= 0) return gather_elements(w, operand, result);
  if (w.window.one_row() && positions >= window) return gather_rows(w, args.in[0], args.out[0]);
  if (positions >= window) {
    parallel_for(positions, std::max<int64_t>(1, kGrain / window), [&](int64_t begin, int64_t end) {
      gather_part(w, operand, result, begin, end, 0, window);
    });
  } else {
    parallel_for(window, std::max<int64_t>(64, kGrain / positions),
                 [&](int64_t begin, int64_t end) {
                   gather_part(w, operand, result, 0, positions, begin, end);
                 });
  }
}

}  // namespace

void gather_kernel(const KernelArgs& args) {
  const Windows w(args.params.get<GatherParams>(), args.in[0].shape(), args.in[1],
                  args.out[0].shape());
  visit_bits(size_of(args.in[0].dtype()), [&]<class T>(T) { gather_as<T>(args, w); });
}

}  // namespace spruce::cpu
