// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/attention/attention.h"

#include <algorithm>
#include <limits>

#include "spruce/core/cpu/gemm/gemm_pack.h"
#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/rows/rows.h"
#include "spruce/core/math/math.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

namespace {

// x[j] = scale x[j] (+ what is added), closed where the mask says so. Rows of a mask are dense, or
// one element for all.
template <class T>
struct MaskedRow {
  static constexpr T kClosed = -std::numeric_limits<T>::infinity();

  template <bool kDense>
  static SPRUCE_INLINE void opened(const uint8_t* m, int64_t step, T scale, T* x, int64_t n) {
    if (kDense) step = 1;
    SPRUCE_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) x[j] = m[j * step] != 0 ? x[j] * scale : kClosed;
  }
  template <bool kDense>
  static SPRUCE_INLINE void added(const T* m, int64_t step, T scale, T* x, int64_t n) {
    if (kDense) step = 1;
    SPRUCE_INDEPENDENT
    for (int64_t j = 0; j < n; ++j)
      x[j] = m[j * step] == kClosed ? kClosed : x[j] * scale + m[j * step];
  }
  template <bool kDense>
  static SPRUCE_INLINE void with_step(const void* mask, bool adds, int64_t step, T scale, T* x,
                                      int64_t n) {
    if (adds)
      added<kDense>(static_cast<const T*>(mask), step, scale, x, n);
    else
      opened<kDense>(static_cast<const uint8_t*>(mask), step, scale, x, n);
  }
  static SPRUCE_INLINE void body(const void* mask, bool adds, int64_t step, T scale, T* x,
                                 int64_t n) {
    if (step == 1)
      with_step<true>(mask, adds, step, scale, x, n);
    else
      with_step<false>(mask, adds, step, scale, x, n);
  }
  SPRUCE_TARGET_BASE static void base(const void* mask, bool adds, int64_t step, T scale, T* x,
                                      int64_t n) {
    body(mask, adds, step, scale, x, n);
  }
  SPRUCE_TARGET_V3 static void v3(const void* mask, bool adds, int64_t step, T scale, T* x,
                                  int64_t n) {
    body(mask, adds, step, scale, x, n);
  }
};

}  // namespace

template <class T>
void internal::mask_row(const AttentionOperands<T>& a, int64_t item, int64_t query, int64_t first,
                        T scale, T* x, int64_t n) {
  using Loop = void (*)(const void*, bool, int64_t, T, T*, int64_t);
  static const Loop loop = pick<Loop>(&MaskedRow<T>::base, &MaskedRow<T>::v3, &MaskedRow<T>::v3);
  const int64_t offset = a.at(a.mask, item) + query * a.mask.row + first * a.mask_column;
  const int64_t size = a.mask_adds ? sizeof(T) : 1;
  loop(static_cast<const char*>(a.mask.data) + offset * size, a.mask_adds, a.mask_column, scale, x,
       n);
}

template void internal::mask_row<float>(const AttentionOperands<float>&, int64_t, int64_t, int64_t,
                                        float, float*, int64_t);
template void internal::mask_row<double>(const AttentionOperands<double>&, int64_t, int64_t,
                                         int64_t, double, double*, int64_t);

namespace {

// A tile of scores stays in the first-level cache. Low ones leave out more of a causal mask.
constexpr int64_t kQueries = 64, kCausalQueries = 32, kKeys = 128;
constexpr int64_t kTogether = 256;  // queries that share a transposed copy of the keys

// What is known of a query after some keys.
template <class T>
struct Query {
  T largest = -std::numeric_limits<T>::infinity(), total = 0;
};

// From n scores to exp(score - largest); what was summed up before shrinks where the largest grows.
template <class T>
struct Step {
  template <class I>
  static SPRUCE_INLINE void body(Query<T>& q, T* x, int64_t n, T* out, int64_t e) {
    const T found = row_max(x, n);
    const T before = q.largest, largest = found > before ? found : before;
    const T base = largest == -std::numeric_limits<T>::infinity() ? T(0) : largest;
    const T sum = exp_sum<I>(x, base, x, n);
    const T shrink = math::exp<I>(before - base);
    if (before != largest) {
      for (int64_t i = 0; i < e; ++i) out[i] *= shrink;
      q.total *= shrink;
    }
    q.total += sum;
    q.largest = largest;
  }
  SPRUCE_TARGET_BASE static void base(Query<T>& q, T* x, int64_t n, T* out, int64_t e) {
    body<math::Isa<false>>(q, x, n, out, e);
  }
  SPRUCE_TARGET_V3 static void v3(Query<T>& q, T* x, int64_t n, T* out, int64_t e) {
    body<math::Isa<true>>(q, x, n, out, e);
  }
  SPRUCE_TARGET_V4 static void v4(Query<T>& q, T* x, int64_t n, T* out, int64_t e) {
    body<math::Isa<true>>(q, x, n, out, e);
  }
  using Call = void (*)(Query<T>&, T*, int64_t, T*, int64_t);
  static Call best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else
      return pick<Call>(&base, &v3, &v4);
  }
};

template <class T>
class Run {
 public:
  explicit Run(const Attention<T>& a) : a_(a) {}

  void operator()() const {
    if (a_.t == 0 || (a_.e == 0 && a_.lse == nullptr)) return;
    const int64_t groups = (a_.t + kTogether - 1) / kTogether;
    const int64_t work = std::max<int64_t>(1, std::min(a_.t, kTogether) * a_.s * (a_.d + a_.e));
    parallel_pieces(a_.items * groups, std::max<int64_t>(1, (1 << 19) / work),
                    [&](int64_t begin, int64_t end) {
                      const Workspace keys(keys_bytes(a_));
                      for (int64_t p = begin; p < end; ++p)
                        group(p / groups, p % groups * kTogether, keys.as<T>());
                    });
  }

  // Of keys, f[d, s], and behind them of a tile of scaled queries.
  static size_t keys_bytes(const AttentionOperands<T>& a) {
    return bytes_of<T>((a.s + kQueries) * a.d);
  }

 private:
  // Queries from `first` on.
  void group(int64_t item, int64_t first, T* keys) const {
    const int64_t last = std::min(first + kTogether, a_.t), s = a_.keys_of(last);
    gemm_pack(a_.k.data + a_.at(a_.k, item), a_.k.row, 1, s, a_.d, s, keys);
    const int64_t height = a_.causal ? kCausalQueries : kQueries;
    for (int64_t i = first; i < last; i += height)
      tile(item, i, std::min(i + height, last), keys, s, keys + a_.s * a_.d);
  }

  void tile(int64_t item, int64_t first, int64_t last, const T* keys, int64_t step,
            T* scaled) const {
    alignas(64) T scores[kQueries * kKeys];
    Query<T> queries[kQueries];
    const int64_t rows = last - first, e = a_.e, s = a_.keys_of(last);
    const int64_t out_row = a_.out.row;
    T* const out = a_.out.data + a_.at(a_.out, item) + first * out_row;
    const T* const q = a_.q.data + a_.at(a_.q, item) + first * a_.q.row;
    const T* const v = a_.v.data + a_.at(a_.v, item);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < a_.d; ++i) scaled[r * a_.d + i] = a_.scale * q[r * a_.q.row + i];
      if (s == 0) std::fill(out + r * out_row, out + r * out_row + e, T(0));
    }
    for (int64_t j = 0; j < s; j += kKeys) {
      const int64_t n = std::min(kKeys, s - j);
      Gemm g;
      g.m = rows, g.n = n, g.k = a_.d;
      g.a_row = a_.d, g.b_row = step, g.c_row = kKeys;
      SmallGemm<T>(g).run(scaled, keys + j, scores);
      for (int64_t r = 0; r < rows; ++r) {
        T* x = scores + r * kKeys;
        const int64_t open = a_.causal ? std::clamp<int64_t>(first + r + 1 - j, 0, n) : n;
        if (a_.mask.data != nullptr) internal::mask_row(a_, item, first + r, j, T(1), x, open);
        std::fill(x + open, x + n, -std::numeric_limits<T>::infinity());
        step_(queries[r], x, n, out + r * out_row, j > 0 ? e : 0);
      }
      g = Gemm();
      g.m = rows, g.n = e, g.k = n;
      g.a_row = kKeys, g.b_row = a_.v.row, g.c_row = out_row;
      g.accumulate = j > 0;
      SmallGemm<T>(g).run(scores, v + j * a_.v.row, out);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T total = queries[r].total;
      const bool closed = total == T(0) && (a_.mask.data != nullptr || a_.s == 0);
      const T scale = closed ? T(0) : T(1) / total;
      for (int64_t i = 0; i < e; ++i) out[r * out_row + i] *= scale;
      if (a_.lse != nullptr) {
        a_.lse[item * a_.t + first + r] =
            closed ? std::numeric_limits<T>::infinity()
                   : queries[r].largest + math::log<math::Isa<false>>(total);
      }
    }
  }

  const Attention<T>& a_;
  typename Step<T>::Call step_ = Step<T>::best();
};

}  // namespace

template <class T>
size_t attention_workspace(const AttentionOperands<T>& a) {
  return workspace_size(Run<T>::keys_bytes(a));
}
template size_t attention_workspace(const AttentionOperands<float>&);
template size_t attention_workspace(const AttentionOperands<double>&);

void attention(const Attention<float>& a) { Run<float>{a}(); }
void attention(const Attention<double>& a) { Run<double>{a}(); }

}  // namespace spruce::cpu
