// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/copy.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "spruce/core/cpu/index/steps.h"
#include "spruce/core/cpu/permute_rows.h"
#include "spruce/core/cpu/repeat.h"
#include "spruce/core/cpu/runs.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/cpu/visit_bits.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrainBytes = 1 << 19;  // bytes that are worth a thread of their own
constexpr int64_t kTile = 64;             // rows of a strip of a transposition

// The axes of a copy in the order in which they lie in `to`, so that what is written lies side by
// side, with those of size 1 gone and neighbours merged where both sides allow it.
struct Plan {
  int rank = 0;
  int64_t sizes[kMaxRank], to[kMaxRank], from[kMaxRank];

  Plan(const Shape& all_sizes, const Shape& to_strides, const Shape& from_strides) {
    int order[kMaxRank];
    const int axes = all_sizes.rank();
    std::iota(order, order + axes, 0);
    std::sort(order, order + axes, [&](int a, int b) { return to_strides[a] > to_strides[b]; });
    for (int k = 0; k < axes; ++k) {
      const int i = order[k];
      const int64_t n = all_sizes[i];
      if (n == 1) continue;
      if (rank > 0 && to[rank - 1] == to_strides[i] * n && from[rank - 1] == from_strides[i] * n) {
        sizes[rank - 1] *= n;
        to[rank - 1] = to_strides[i];
        from[rank - 1] = from_strides[i];
      } else {
        push(n, to_strides[i], from_strides[i]);
      }
    }
    if (rank == 0) push(1, 1, 1);
  }

  void push(int64_t n, int64_t to_stride, int64_t from_stride) {
    sizes[rank] = n;
    to[rank] = to_stride;
    from[rank] = from_stride;
    ++rank;
  }
  void remove(int axis) {
    for (int i = axis; i + 1 < rank; ++i) {
      sizes[i] = sizes[i + 1];
      to[i] = to[i + 1];
      from[i] = from[i + 1];
    }
    --rank;
  }
  int64_t rows(int axes) const {
    int64_t n = 1;
    for (int i = 0; i < axes; ++i) n *= sizes[i];
    return n;
  }

  // Calls f(to offset, from offset) for the places begin..end of the first `axes` axes.
  template <class F>
  void each(int axes, int64_t begin, int64_t end, const F& f) const {
    int64_t index[kMaxRank] = {}, to_offset = 0, from_offset = 0;
    int64_t at = begin;
    for (int i = axes - 1; i >= 0; --i) {
      index[i] = at % sizes[i];
      at /= sizes[i];
      to_offset += index[i] * to[i];
      from_offset += index[i] * from[i];
    }
    for (int64_t k = begin; k < end; ++k) {
      f(to_offset, from_offset);
      for (int i = axes - 1; i >= 0; --i) {
        to_offset += to[i];
        from_offset += from[i];
        if (++index[i] < sizes[i]) break;
        to_offset -= to[i] * sizes[i];
        from_offset -= from[i] * sizes[i];
        index[i] = 0;
      }
    }
  }
};

// Short rows, many at a time: those of the last axis but one follow each other at equal steps.
template <class T>
void copy_short_rows(const Plan& plan, T* to, const T* from) {
  const int last = plan.rank - 1, outer = plan.rank - 2;
  const int64_t n = plan.sizes[last], ts = plan.to[last], fs = plan.from[last];
  const int64_t rows = plan.sizes[outer], to_step = plan.to[outer], from_step = plan.from[outer];
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const int64_t span = std::abs(fs) * (n - 1);
  const bool permutes = ts == 1 && to_step == n && fs != 0 && span < from_step &&
                        from_step * kBytes <= kPermutedBytes;
  const auto block = [&](T* t, const T* f, int64_t count) {
    if (permutes) {
      int32_t order[kPermutedBytes];
      const int64_t first = fs < 0 ? span : 0;
      for (int64_t k = 0; k < n; ++k) order[k] = static_cast<int32_t>(first + k * fs);
      return permute_rows(t, n, f - first, from_step, order, kBytes, count);
    }
    if (ts == 1 && fs == 1) {
      copy_runs(reinterpret_cast<char*>(t), to_step * kBytes, reinterpret_cast<const char*>(f),
                from_step * kBytes, n * kBytes, count);
      return;
    }
    if (ts == 1 && fs == 0 && to_step == n) {
      static const RepeatLoop repeat = repeat_loop(sizeof(T));
      return repeat(f, from_step, count, n, t);
    }
    if (ts == 1 && from_step == 1 && to_step == n && n >= kFewestParts && n <= kMostParts) {
      const void* parts[kMostParts];
      for (int64_t i = 0; i < n; ++i) parts[i] = f + i * fs;
      return interleave(t, parts, n, kBytes, count);
    }
    constexpr int64_t kRows = 256;  // whose lines stay in the cache from element to element
    for (int64_t at = 0; at < count; at += kRows) {
      const int64_t end = std::min(count, at + kRows);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = at; k < end; ++k) t[k * to_step + i * ts] = f[k * from_step + i * fs];
      }
    }
  };
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / kBytes / n);
  parallel_pieces(plan.rows(last), grain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t place = at / rows, first = at % rows, count = std::min(rows - first, end - at);
      plan.each(outer, place, place + 1, [&](int64_t t, int64_t f) {
        block(to + t + first * to_step, from + f + first * from_step, count);
      });
      at += count;
    }
  });
}

template <class T>
void copy_rows(const Plan& plan, T* to, const T* from) {
  const int outer = plan.rank - 1;
  const int64_t n = plan.sizes[outer], ts = plan.to[outer], fs = plan.from[outer];
  const bool run = ts == 1 && fs == 1;
  if (outer > 0 && plan.sizes[outer - 1] >= 8) {
    const bool in_one = run || (ts == 1 && fs == 0 && plan.to[outer - 1] == n);
    if (n * static_cast<int64_t>(sizeof(T)) <= (in_one ? kShortRunBytes : 32))
      return copy_short_rows(plan, to, from);
  }
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / static_cast<int64_t>(sizeof(T)) / n);
  const auto rows = [&](const auto& row) {
    parallel_pieces(plan.rows(outer), grain, [&](int64_t begin, int64_t end) {
      plan.each(outer, begin, end, [&](int64_t t, int64_t f) { row(to + t, from + f); });
    });
  };
  if (run && n < 16) {
    rows([n](T* t, const T* f) {
      for (int64_t i = 0; i < n; ++i) t[i] = f[i];
    });
  } else if (ts == 1) {
    static const StepsLoop loop = steps_loop(sizeof(T));
    rows([n, fs](T* t, const T* f) { loop(f, fs, n, t); });
  } else {
    rows([n, ts, fs](T* t, const T* f) {
      for (int64_t i = 0; i < n; ++i) t[i * ts] = f[i * fs];
    });
  }
}

// One long row is cut so that threads can share it.
void split_long_row(Plan& plan, int64_t element_bytes) {
  const int64_t n = plan.sizes[plan.rank - 1], piece = kGrainBytes / element_bytes;
  if (plan.rank != 1 || n < 2 * piece) return;
  const int64_t ts = plan.to[0], fs = plan.from[0];
  plan.rank = 0;
  plan.push(n / piece, ts * piece, fs * piece);
  plan.push(piece, ts, fs);
}

// Elements of a few arrays that alternate: each array becomes a row.
void copy_apart(Plan plan, int arrays, char* to, const char* from, int64_t bytes) {
  const int last = plan.rank - 1;
  const int64_t parts = plan.sizes[arrays], to_step = plan.to[arrays], n = plan.sizes[last];
  plan.remove(last);
  plan.remove(arrays);
  const int64_t piece = kGrainBytes / bytes / parts, pieces = (n + piece - 1) / piece;
  const auto copy_piece = [&](int64_t k) {
    const int64_t row = k / pieces, first = k % pieces * piece;
    plan.each(plan.rank, row, row + 1, [&](int64_t t, int64_t f) {
      void* apart[kMostParts];
      for (int64_t p = 0; p < parts; ++p) apart[p] = to + (t + first + p * to_step) * bytes;
      deinterleave(apart, from + (f + first * parts) * bytes, parts, bytes,
                   std::min(piece, n - first));
    });
  };
  parallel_pieces(plan.rows(plan.rank) * pieces, std::max<int64_t>(1, piece / n),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t k = begin; k < end; ++k) copy_piece(k);
                  });
}

template <class T>
void copy_typed(Plan plan, T* to, const T* from) {
  const int last = plan.rank - 1;
  int crossed = -1;  // an axis along which `from` is dense while `to` is dense along the last one
  if (plan.to[last] == 1 && plan.from[last] > 1) {
    for (int i = 0; i < last; ++i) {
      if (plan.from[i] == 1 && plan.sizes[i] > 1) crossed = i;
    }
  }
  constexpr int64_t kFewest = 16;  // elements of a row that are worth it
  if (crossed >= 0 && plan.sizes[crossed] < 4 && plan.from[last] == plan.sizes[crossed] &&
      plan.sizes[last] >= kFewest)
    return copy_apart(plan, crossed, reinterpret_cast<char*>(to),
                      reinterpret_cast<const char*>(from), sizeof(T));
  if (crossed < 0 || plan.sizes[crossed] < 4 || plan.sizes[last] < 4) {
    const int64_t n = plan.sizes[last], ts = plan.to[last], fs = plan.from[last];
    const int64_t piece = kGrainBytes / static_cast<int64_t>(sizeof(T));
    if (plan.rank == 1 && n >= 2 * piece && n % piece != 0) {
      const int64_t done = n - n % piece;
      plan.sizes[0] = n % piece;
      copy_rows(plan, to + done * ts, from + done * fs);
      plan.sizes[0] = done;
    }
    split_long_row(plan, sizeof(T));
    copy_rows(plan, to, from);
    return;
  }
  const int64_t rows = plan.sizes[crossed], columns = plan.sizes[last], to_step = plan.to[crossed],
                from_step = plan.from[last];
  plan.remove(last);
  plan.remove(crossed);
  const int64_t strips = (rows + kTile - 1) / kTile;
  const int64_t grain = std::max<int64_t>(
      1, kGrainBytes / static_cast<int64_t>(sizeof(T)) / (std::min(rows, kTile) * columns));
  static const TransposeLoop loop = transpose_loop(sizeof(T));
  parallel_pieces(plan.rows(plan.rank) * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end;) {
      const int64_t matrix = k / strips, first = k % strips;
      const int64_t stop = std::min(strips, first + end - k);
      plan.each(plan.rank, matrix, matrix + 1, [&](int64_t t, int64_t f) {
        const int64_t row = first * kTile, count = std::min(rows, stop * kTile) - row;
        loop(from + f + row, from_step, to + t + row * to_step, to_step, count, columns);
      });
      k += stop - first;
    }
  });
}

}  // namespace

void copy_strided(const Shape& sizes, const Strided& to, const Strided& from,
                  int64_t element_bytes) {
  if (sizes.numel() == 0) return;
  const Plan plan(sizes, to.strides, from.strides);
  visit_bits(element_bytes, [&]<class T>(T) {
    copy_typed(plan, static_cast<T*>(to.data), static_cast<const T*>(from.data));
  });
}

void fill(void* to, const void* element, int64_t n, int64_t element_bytes) {
  if (n == 0) return;
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(element_bytes));
  parallel_for(n, kGrainBytes / element_bytes, [&](int64_t begin, int64_t end) {
    void* p = advance(to, begin, element_bytes);
    if (bits == 0) {
      std::memset(p, 0, static_cast<size_t>((end - begin) * element_bytes));
      return;
    }
    visit_bits(element_bytes, [&]<class T>(T) {
      std::fill_n(static_cast<T*>(p), end - begin, static_cast<T>(bits));
    });
  });
}

}  // namespace spruce::cpu
