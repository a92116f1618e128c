// SPDX-License-Identifier: Apache-2.0
// The weights of a tile are exp(score - lse) again; then come five products.
#include <algorithm>
#include <limits>
#include <new>

#include "spruce/core/cpu/attention.h"
#include "spruce/core/cpu/gemm_pack.h"
#include "spruce/core/cpu/gemm_small.h"
#include "spruce/core/cpu/math/math.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/rows.h"
#include "spruce/core/cpu/scratch.h"

namespace spruce::cpu {
namespace {

// Two tiles of scores stay in the first-level cache, the keys and values of a block in the second.
constexpr int64_t kQueries = 64, kCausalQueries = 32, kKeys = 64, kBlock = 256;
// So many items are enough for the threads; of fewer, the blocks of keys are shared out to slices.
constexpr int64_t kItems = 8;

// Of n scores and as many derivatives of weights: weights, and derivatives of scores.
template <class T>
struct Step {
  template <class I>
  static SPRUCE_INLINE void body(T lse, T mean, T* x, T* y, int64_t n) {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const T weight = math::exp<I>(x[i] - lse);
      x[i] = weight;
      y[i] = weight * (y[i] - mean);
    }
  }
  static void base(T lse, T mean, T* x, T* y, int64_t n) {
    body<math::Isa<false>>(lse, mean, x, y, n);
  }
  SPRUCE_TARGET_V3 static void v3(T lse, T mean, T* x, T* y, int64_t n) {
    body<math::Isa<true>>(lse, mean, x, y, n);
  }
  SPRUCE_TARGET_V4 static void v4(T lse, T mean, T* x, T* y, int64_t n) {
    body<math::Isa<true>>(lse, mean, x, y, n);
  }
  using Call = void (*)(T, T, T*, T*, int64_t);
  static Call best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else
      return pick<Call>(&base, &v3, &v4);
  }
};

template <class T>
void fill_zero(T* x, int64_t rows, int64_t columns, int64_t row) {
  for (int64_t r = 0; r < rows; ++r) std::fill(x + r * row, x + r * row + columns, T(0));
}

template <class T>
class Run {
 public:
  explicit Run(const AttentionGrad<T>& a) : a_(a) {}

  void operator()() const {
    const int64_t blocks = (a_.s + kBlock - 1) / kBlock;
    const int64_t slices =
        a_.items == 0 ? 1 : std::clamp<int64_t>(kItems / a_.items, 1, std::max<int64_t>(blocks, 1));
    const int64_t size = a_.items * a_.t * a_.d;
    const Scratch parts(slices > 1 ? static_cast<size_t>(slices * size) * sizeof(T) : 0);
    const int64_t work = std::max<int64_t>(1, a_.t * a_.s * (a_.d + a_.e) / slices);
    parallel_pieces(a_.items * slices, std::max<int64_t>(1, (1 << 19) / work),
                    [&](int64_t begin, int64_t end) {
                      const Scratch memory(static_cast<size_t>(Memory::size(a_)) * sizeof(T));
                      const Scratch packed(sizeof(Packed));
                      const Memory m(a_, memory.as<T>(), *new (packed.data()) Packed);
                      for (int64_t p = begin; p < end; ++p) {
                        const int64_t item = p / slices, slice = p % slices;
                        Matrices<T> dq = a_.dq;
                        if (slices > 1) {
                          dq.data = parts.as<T>() + slice * size + item * a_.t * a_.d;
                          dq.row = a_.d;
                        } else {
                          dq.data += a_.at(dq, item);
                        }
                        fill_zero(dq.data, a_.t, a_.d, dq.row);
                        find_means(item, m.means);
                        for (int64_t b = slice; b < blocks; b += slices)
                          block(item, b * kBlock, std::min(a_.s, (b + 1) * kBlock), dq, m);
                      }
                    });
    finish(parts.as<T>(), slices, size);
  }

 private:
  using Packed = typename SmallGemm<T>::Packed;

  // What one thread works in.
  struct Memory {
    T *keys, *values, *queries, *means;  // f[d, kBlock], f[e, kBlock], f[kQueries, d], f[t]
    Packed& packed;

    static int64_t size(const AttentionGrad<T>& a) {
      return kBlock * (a.d + a.e) + kQueries * a.d + a.t;
    }
    Memory(const AttentionGrad<T>& a, T* memory, Packed& p)
        : keys(memory),
          values(keys + kBlock * a.d),
          queries(values + kBlock * a.e),
          means(queries + kQueries * a.d),
          packed(p) {}
  };

  // By query the sum of weights times their derivatives: out times its cotangent.
  void find_means(int64_t item, T* means) const {
    const T* y = a_.out.data + a_.at(a_.out, item);
    const T* ct = a_.ct.data + a_.at(a_.ct, item);
    for (int64_t i = 0; i < a_.t; ++i) {
      const T *a = y + i * a_.out.row, *b = ct + i * a_.ct.row;
      means[i] = row_sum<T>(a_.e, [&](int64_t j) { return a[j] * b[j]; });
    }
  }

  // Keys `begin` to end - 1 and the queries that may attend to them.
  void block(int64_t item, int64_t begin, int64_t end, const Matrices<T>& dq,
             const Memory& m) const {
    const int64_t n = end - begin, height = a_.causal ? kCausalQueries : kQueries;
    const T* k = a_.k.data + a_.at(a_.k, item) + begin * a_.k.row;
    const T* v = a_.v.data + a_.at(a_.v, item) + begin * a_.v.row;
    gemm_pack(k, a_.k.row, 1, n, a_.d, kBlock, m.keys);
    gemm_pack(v, a_.v.row, 1, n, a_.e, kBlock, m.values);
    T* dk = a_.dk.data + a_.at(a_.dk, item) + begin * a_.dk.row;
    T* dv = a_.dv.data + a_.at(a_.dv, item) + begin * a_.dv.row;
    fill_zero(dk, n, a_.d, a_.dk.row);
    fill_zero(dv, n, a_.e, a_.dv.row);
    const T* q = a_.q.data + a_.at(a_.q, item);
    for (int64_t i = a_.causal ? begin / height * height : 0; i < a_.t; i += height) {
      const int64_t rows = std::min(height, a_.t - i);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < a_.d; ++c)
          m.queries[r * a_.d + c] = a_.scale * q[(i + r) * a_.q.row + c];
      }
      const int64_t last = std::min(end, a_.keys_of(i + rows));
      for (int64_t j = begin; j < last; j += kKeys) {
        tile(item, i, rows, j, std::min(kKeys, last - j), j - begin, k + (j - begin) * a_.k.row,
             dq.data + i * dq.row, dq.row, dk + (j - begin) * a_.dk.row,
             dv + (j - begin) * a_.dv.row, m);
      }
    }
  }

  // `at` is the place of the tile's first key in the block.
  void tile(int64_t item, int64_t first, int64_t rows, int64_t key, int64_t n, int64_t at,
            const T* k, T* dq, int64_t dq_row, T* dk, T* dv, const Memory& m) const {
    alignas(64) T scores[kQueries * kKeys];
    alignas(64) T cts[kQueries * kKeys];
    const T* ct = a_.ct.data + a_.at(a_.ct, item) + first * a_.ct.row;
    multiply(rows, n, a_.d, m.queries, a_.d, 1, m.keys + at, kBlock, scores, kKeys, false, m);
    multiply(rows, n, a_.e, ct, a_.ct.row, 1, m.values + at, kBlock, cts, kKeys, false, m);
    for (int64_t r = 0; r < rows; ++r) {
      T *x = scores + r * kKeys, *y = cts + r * kKeys;
      const int64_t open = a_.causal ? std::clamp<int64_t>(first + r + 1 - key, 0, n) : n;
      if (a_.mask.data != nullptr) internal::mask_row(a_, item, first + r, key, x, open);
      step_(a_.lse[item * a_.t + first + r], m.means[first + r], x, y, open);
      std::fill(x + open, x + n, T(0));
      std::fill(y + open, y + n, T(0));
    }
    multiply(n, a_.e, rows, scores, 1, kKeys, ct, a_.ct.row, dv, a_.dv.row, true, m);
    multiply(n, a_.d, rows, cts, 1, kKeys, m.queries, a_.d, dk, a_.dk.row, true, m);
    multiply(rows, a_.d, n, cts, kKeys, 1, k, a_.k.row, dq, dq_row, true, m);
  }

  static void multiply(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_row,
                       int64_t a_col, const T* b, int64_t b_row, T* c, int64_t c_row, bool adds,
                       const Memory& m) {
    if (rows == 0 || columns == 0) return;
    Gemm g;
    g.m = rows, g.n = columns, g.k = depth;
    g.a_row = a_row, g.a_col = a_col, g.b_row = b_row, g.c_row = c_row;
    g.accumulate = adds;
    m.packed.from = nullptr;
    SmallGemm<T>(g).run(a, b, c, m.packed);
  }

  // dq from its parts, scaled.
  void finish(const T* parts, int64_t slices, int64_t size) const {
    const int64_t rows = a_.items * a_.t;
    parallel_for(rows, 65536 / std::max<int64_t>(a_.d, 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* to = a_.dq.data + a_.at(a_.dq, i / a_.t) + i % a_.t * a_.dq.row;
        if (slices > 1) std::copy_n(parts + i * a_.d, a_.d, to);
        for (int64_t p = 1; p < slices; ++p) {
          for (int64_t c = 0; c < a_.d; ++c) to[c] += parts[p * size + i * a_.d + c];
        }
        for (int64_t c = 0; c < a_.d; ++c) to[c] *= a_.scale;
      }
    });
  }

  const AttentionGrad<T>& a_;
  typename Step<T>::Call step_ = Step<T>::best();
};

}  // namespace

void attention_grad(const AttentionGrad<float>& a) { Run<float>{a}(); }
void attention_grad(const AttentionGrad<double>& a) { Run<double>{a}(); }

}  // namespace spruce::cpu
