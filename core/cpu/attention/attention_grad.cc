// SPDX-License-Identifier: Apache-2.0
// The weights of a tile are exp(score - lse) again; then come five products.
#include <algorithm>
#include <limits>

#include "spruce/core/cpu/attention/attention.h"
#include "spruce/core/cpu/gemm/gemm_pack.h"
#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/rows/rows.h"
#include "spruce/core/math/math.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// Two tiles of scores stay in the first-level cache, the keys and values of a block in the second.
// Low tiles leave out more of a causal mask.
constexpr int64_t kQueries = 64, kCausalQueries = 32, kTile = 4096, kBlock = 256;
// So many items are enough for the threads; of fewer, the blocks of keys are shared out to slices.
constexpr int64_t kItems = 8;

template <class T>
struct Steps {
  // Of products x, which times `before` are scores, and derivatives y of weights: weights, and
  // derivatives of scores times `scale`. Row r has n elements, of which all from open + r on become
  // zeros: whole vectors are computed and then closed.
  using Tile = void (*)(T before, T scale, const T* lse, const T* means, T* x, T* y, int64_t rows,
                        int64_t n, int64_t row, int64_t open);
  // to[i] = sum over j of a[i, j] b[i, j].
  using Means = void (*)(const T* a, int64_t a_row, const T* b, int64_t b_row, int64_t rows,
                         int64_t columns, T* to);
  Tile tile;
  Means means;
};

template <class T>
struct Step {
  template <class I>
  static SPRUCE_INLINE void tile(T before, T scale, const T* lse, const T* means, T* x, T* y,
                                 int64_t rows, int64_t n, int64_t row, int64_t open) {
    for (int64_t r = 0; r < rows; ++r, x += row, y += row, ++open) {
      const T l = lse[r], mean = means[r];
      SPRUCE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) {
        const T weight = math::exp<I>(x[i] * before - l);
        x[i] = weight;
        y[i] = weight * scale * (y[i] - mean);
      }
      for (int64_t i = open; i < n; ++i) x[i] = y[i] = T(0);
    }
  }
  static SPRUCE_INLINE void means(const T* a, int64_t a_row, const T* b, int64_t b_row,
                                  int64_t rows, int64_t columns, T* to) {
    for (int64_t i = 0; i < rows; ++i) {
      const T *x = a + i * a_row, *y = b + i * b_row;
      to[i] = row_sum<T>(
          columns, [&](int64_t j) __attribute__((always_inline)) { return x[j] * y[j]; });
    }
  }

  static void tile_base(T before, T scale, const T* lse, const T* means, T* x, T* y, int64_t rows,
                        int64_t n, int64_t row, int64_t open) {
    tile<math::Isa<false>>(before, scale, lse, means, x, y, rows, n, row, open);
  }
  SPRUCE_TARGET_V3 static void tile_v3(T before, T scale, const T* lse, const T* means, T* x, T* y,
                                       int64_t rows, int64_t n, int64_t row, int64_t open) {
    tile<math::Isa<true>>(before, scale, lse, means, x, y, rows, n, row, open);
  }
  SPRUCE_TARGET_V4 static void tile_v4(T before, T scale, const T* lse, const T* means, T* x, T* y,
                                       int64_t rows, int64_t n, int64_t row, int64_t open) {
    tile<math::Isa<true>>(before, scale, lse, means, x, y, rows, n, row, open);
  }
  static void means_base(const T* a, int64_t a_row, const T* b, int64_t b_row, int64_t rows,
                         int64_t columns, T* to) {
    means(a, a_row, b, b_row, rows, columns, to);
  }
  SPRUCE_TARGET_V3 static void means_v3(const T* a, int64_t a_row, const T* b, int64_t b_row,
                                        int64_t rows, int64_t columns, T* to) {
    means(a, a_row, b, b_row, rows, columns, to);
  }
  SPRUCE_TARGET_V4 static void means_v4(const T* a, int64_t a_row, const T* b, int64_t b_row,
                                        int64_t rows, int64_t columns, T* to) {
    means(a, a_row, b, b_row, rows, columns, to);
  }
  static Steps<T> best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return {&tile_base, &means_base};
    else
      return {pick<typename Steps<T>::Tile>(&tile_base, &tile_v3, &tile_v4),
              pick<typename Steps<T>::Means>(&means_base, &means_v3, &means_v4)};
  }
};

template <class T>
void fill_zero(T* x, int64_t rows, int64_t columns, int64_t row) {
  if (row == columns) {
    std::fill(x, x + rows * row, T(0));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) std::fill(x + r * row, x + r * row + columns, T(0));
}

template <class T>
class Run {
 public:
  explicit Run(const AttentionGrad<T>& a) : a_(a) {}

  void operator()() const {
    const int64_t blocks = (a_.s + kBlock - 1) / kBlock;
    const int64_t slices = slices_of(a_), size = a_.items * a_.t * a_.d;
    const Workspace parts(parts_bytes(a_));
    const int64_t work = std::max<int64_t>(1, a_.t * a_.s * (a_.d + a_.e) / slices);
    parallel_pieces(
        a_.items * slices, std::max<int64_t>(1, (1 << 19) / work), [&](int64_t begin, int64_t end) {
          const Workspace memory(Memory::bytes(a_));
          const Memory m(a_, memory.as<T>());
          for (int64_t p = begin; p < end; ++p) {
            const int64_t item = p / slices, slice = p % slices;
            Matrices<T> dq = a_.dq;
            if (slices > 1) {
              dq.data = parts.as<T>() + slice * size + item * a_.t * a_.d;
              dq.row = a_.d;
            } else {
              dq.data += a_.at(dq, item);
            }
            fill_zero(dq.data, closed_before(slice * kBlock), a_.d, dq.row);
            find_means(item, m.means);
            for (int64_t b = slice; b < blocks; b += slices)
              block(item, b * kBlock, std::min(a_.s, (b + 1) * kBlock), dq, b > slice, m);
          }
        });
    if (slices > 1) add_up(parts.as<T>(), slices, size);
  }

  static size_t workspace(const AttentionOperands<T>& a) {
    return workspace_size(parts_bytes(a)) + workspace_size(Memory::bytes(a));
  }

 private:
  static int64_t slices_of(const AttentionOperands<T>& a) {
    const int64_t blocks = (a.s + kBlock - 1) / kBlock;
    return a.items == 0 ? 1
                        : std::clamp<int64_t>(kItems / a.items, 1, std::max<int64_t>(blocks, 1));
  }
  // Of what slices add to dq, where there are several.
  static size_t parts_bytes(const AttentionOperands<T>& a) {
    const int64_t slices = slices_of(a);
    return slices > 1 ? bytes_of<T>(slices * a.items * a.t * a.d) : 0;
  }

  // What one thread works in.
  struct Memory {
    T *keys, *values, *means;  // f[d, kBlock], f[e, kBlock], f[t]

    static size_t bytes(const AttentionOperands<T>& a) {
      return bytes_of<T>(kBlock * (a.d + a.e) + a.t);
    }
    Memory(const AttentionOperands<T>& a, T* memory)
        : keys(memory), values(keys + kBlock * a.d), means(values + kBlock * a.e) {}
  };

  // By query the sum of weights times their derivatives: out times its cotangent.
  void find_means(int64_t item, T* means) const {
    steps_.means(a_.out.data + a_.at(a_.out, item), a_.out.row, a_.ct.data + a_.at(a_.ct, item),
                 a_.ct.row, a_.t, a_.e, means);
  }

  int64_t height() const { return a_.causal ? kCausalQueries : kQueries; }
  // The queries of the tiles that may attend to no key from `key` on.
  int64_t closed_before(int64_t key) const {
    if (a_.s == 0) return a_.t;
    return a_.causal ? std::min(a_.t, key / height() * height()) : 0;
  }

  // Keys `begin` to end - 1 and the queries that may attend to them. Adds to dq or sets it.
  void block(int64_t item, int64_t begin, int64_t end, const Matrices<T>& dq, bool adds,
             const Memory& m) const {
    const int64_t n = end - begin, height = this->height();
    const int64_t width = kTile / height;
    const T* k = a_.k.data + a_.at(a_.k, item) + begin * a_.k.row;
    const T* v = a_.v.data + a_.at(a_.v, item) + begin * a_.v.row;
    gemm_pack(k, a_.k.row, 1, n, a_.d, kBlock, m.keys);
    gemm_pack(v, a_.v.row, 1, n, a_.e, kBlock, m.values);
    T* dk = a_.dk.data + a_.at(a_.dk, item) + begin * a_.dk.row;
    T* dv = a_.dv.data + a_.at(a_.dv, item) + begin * a_.dv.row;
    fill_zero(dk, n, a_.d, a_.dk.row);
    fill_zero(dv, n, a_.e, a_.dv.row);
    for (int64_t i = closed_before(begin); i < a_.t; i += height) {
      const int64_t rows = std::min(height, a_.t - i), last = std::min(end, a_.keys_of(i + rows));
      for (int64_t j = begin; j < last; j += width) {
        tile({item, i, rows, j, std::min(width, last - j), width, adds || j > begin},
             m.keys + (j - begin), m.values + (j - begin), dq.data + i * dq.row, dq.row, m);
      }
    }
  }

  struct Tile {
    int64_t item, query, rows, key, columns;
    int64_t width;  // the step between rows of scores
    bool adds;      // to dq
  };

  // Keys and values have steps of kBlock between their rows f[d], f[e].
  void tile(const Tile& p, const T* keys, const T* values, T* dq, int64_t dq_row,
            const Memory& m) const {
    alignas(64) T scores[kTile];
    alignas(64) T cts[kTile];
    const auto of = [&](const auto& x, int64_t row) {
      return x.data + a_.at(x, p.item) + row * x.row;
    };
    const T *q = of(a_.q, p.query), *ct = of(a_.ct, p.query), *k = of(a_.k, p.key);
    const T* lse = a_.lse + p.item * a_.t + p.query;
    const int64_t rows = p.rows, n = p.columns;
    const bool masked = a_.mask.data != nullptr;
    multiply(rows, n, a_.d, q, a_.q.row, 1, keys, kBlock, scores, p.width, false);
    multiply(rows, n, a_.e, ct, a_.ct.row, 1, values, kBlock, cts, p.width, false);
    for (int64_t r = 0; masked && r < rows; ++r)
      internal::mask_row(a_, p.item, p.query + r, p.key, a_.scale, scores + r * p.width, n);
    steps_.tile(masked ? T(1) : a_.scale, a_.scale, lse, m.means + p.query, scores, cts, rows, n,
                p.width, a_.causal ? p.query + 1 - p.key : n);
    multiply(n, a_.e, rows, scores, 1, p.width, ct, a_.ct.row, of(a_.dv, p.key), a_.dv.row, true);
    multiply(n, a_.d, rows, cts, 1, p.width, q, a_.q.row, of(a_.dk, p.key), a_.dk.row, true);
    multiply(rows, a_.d, n, cts, p.width, 1, k, a_.k.row, dq, dq_row, p.adds);
  }

  static void multiply(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_row,
                       int64_t a_col, const T* b, int64_t b_row, T* c, int64_t c_row, bool adds) {
    if (rows == 0 || columns == 0) return;
    Gemm g;
    g.m = rows, g.n = columns, g.k = depth;
    g.a_row = a_row, g.a_col = a_col, g.b_row = b_row, g.c_row = c_row;
    g.accumulate = adds;
    SmallGemm<T>(g).run(a, b, c);
  }

  // dq from its parts.
  void add_up(const T* parts, int64_t slices, int64_t size) const {
    const int64_t grain = 65536 / std::max<int64_t>(a_.d * slices, 1) + 1;
    parallel_for(a_.items * a_.t, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* to = a_.dq.data + a_.at(a_.dq, i / a_.t) + i % a_.t * a_.dq.row;
        std::copy_n(parts + i * a_.d, a_.d, to);
        for (int64_t p = 1; p < slices; ++p) {
          for (int64_t c = 0; c < a_.d; ++c) to[c] += parts[p * size + i * a_.d + c];
        }
      }
    });
  }

  const AttentionGrad<T>& a_;
  const Steps<T> steps_ = Step<T>::best();
};

}  // namespace

template <class T>
size_t attention_grad_workspace(const AttentionOperands<T>& a) {
  return Run<T>::workspace(a);
}
template size_t attention_grad_workspace(const AttentionOperands<float>&);
template size_t attention_grad_workspace(const AttentionOperands<double>&);

void attention_grad(const AttentionGrad<float>& a) { Run<float>{a}(); }
void attention_grad(const AttentionGrad<double>& a) { Run<double>{a}(); }

}  // namespace spruce::cpu
