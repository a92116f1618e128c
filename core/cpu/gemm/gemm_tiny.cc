// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm_tiny.h"

#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/isa.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {

#if SPRUCE_HAS_X86_TARGETS

namespace {

// A row of kN floats, with zeros behind them.
template <int64_t kN>
struct Floats {
  using Type = __m128;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const float* p) {
    if constexpr (kN == 4) return _mm_loadu_ps(p);
    const Type two = _mm_loadl_pi(zero(), reinterpret_cast<const __m64*>(p));
    if constexpr (kN == 3) return _mm_movelh_ps(two, _mm_load_ss(p + 2));
    return two;
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(float* p, Type v) {
    if constexpr (kN == 4) return _mm_storeu_ps(p, v);
    _mm_storel_pi(reinterpret_cast<__m64*>(p), v);
    if constexpr (kN == 3) _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type zero() { return _mm_setzero_ps(); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type fma(float a, Type b, Type c) {
    return _mm_fmadd_ps(_mm_set1_ps(a), b, c);
  }
  // The terms of a row, and what they add up to for two rows.
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type terms(Type a, Type b) {
    return _mm_add_ps(_mm_fmadd_ps(a, b, zero()), zero());
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void sums(Type a, Type b, float* of_a, float* of_b) {
    const Type halves = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    const Type sum = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
    *of_a = _mm_cvtss_f32(sum);
    *of_b = _mm_cvtss_f32(_mm_movehdup_ps(sum));
  }
};
// The same of doubles.
template <int64_t kN>
struct Doubles {
  using Type = __m256d;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const double* p) {
    if constexpr (kN == 4) return _mm256_loadu_pd(p);
    const __m256d two = _mm256_castpd128_pd256(_mm_loadu_pd(p));
    if constexpr (kN == 3) return _mm256_insertf128_pd(two, _mm_load_sd(p + 2), 1);
    return two;
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(double* p, Type v) {
    if constexpr (kN == 4) return _mm256_storeu_pd(p, v);
    _mm_storeu_pd(p, _mm256_castpd256_pd128(v));
    if constexpr (kN == 3) _mm_store_sd(p + 2, _mm256_extractf128_pd(v, 1));
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type zero() { return _mm256_setzero_pd(); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type fma(double a, Type b, Type c) {
    return _mm256_fmadd_pd(_mm256_set1_pd(a), b, c);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type terms(Type a, Type b) {
    return _mm256_add_pd(_mm256_fmadd_pd(a, b, zero()), zero());
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE __m128d halves(Type v) {
    return _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void sums(Type a, Type b, double* of_a, double* of_b) {
    const Type even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b);
    const __m128d sum = _mm_add_pd(halves(even), halves(odd));
    *of_a = _mm_cvtsd_f64(sum);
    *of_b = _mm_cvtsd_f64(_mm_unpackhi_pd(sum, sum));
  }
};

template <class T, template <int64_t> class Rows, int64_t kN, int64_t kTerms>
SPRUCE_TARGET_V3 SPRUCE_INLINE void product(const Gemm& g, const T* a, const T* b, T* c) {
  using Row = Rows<kN>;
  typename Row::Type rows[kTerms];
  for (int64_t p = 0; p < kTerms; ++p, b += g.b_row) {
    if (g.b_col == 1) {
      rows[p] = Row::load(b);
    } else {
      T row[kN];
      for (int64_t j = 0; j < kN; ++j) row[j] = b[j * g.b_col];
      rows[p] = Row::load(row);
    }
  }
  for (int64_t i = 0; i < g.m; ++i, a += g.a_row, c += g.c_row) {
    typename Row::Type sum = Row::zero();
    for (int64_t p = 0; p < kTerms; ++p) sum = Row::fma(a[p * g.a_col], rows[p], sum);
    Row::store(c, sum);
  }
}

// Rows by a column, two at a time, in the order of the tiles' dots.
template <class T, template <int64_t> class Rows, int64_t kTerms>
SPRUCE_TARGET_V3 SPRUCE_INLINE void column(const Gemm& g, const T* a, const T* b, T* c) {
  using Row = Rows<kTerms>;
  const typename Row::Type x = Row::load(b);
  int64_t i = 0;
  for (; i + 2 <= g.m; i += 2)
    Row::sums(Row::terms(Row::load(a + i * g.a_row), x),
              Row::terms(Row::load(a + (i + 1) * g.a_row), x), c + i * g.c_row,
              c + (i + 1) * g.c_row);
  if (i == g.m) return;
  T unused;
  const typename Row::Type last = Row::terms(Row::load(a + i * g.a_row), x);
  Row::sums(last, last, c + i * g.c_row, &unused);
}

// Of kN columns; of one where kN is 0.
template <class T, template <int64_t> class Rows, int64_t kN, int64_t kTerms>
SPRUCE_TARGET_V3 void products(const Gemm& g, const TinyBatch& batch, const T* a, const T* b,
                               T* c) {
  const TinyBatch step = batch;
  for (int64_t i = 0; i < step.count; ++i, a += step.a, b += step.b, c += step.c) {
    if constexpr (kN == 0)
      column<T, Rows, kTerms>(g, a, b, c);
    else
      product<T, Rows, kN, kTerms>(g, a, b, c);
  }
}

template <class T, template <int64_t> class Rows, int64_t kN>
TinyGemm<T> of_terms(int64_t k) {
  switch (k) {
    case 2:
      return &products<T, Rows, kN, 2>;
    case 3:
      return &products<T, Rows, kN, 3>;
    case 4:
      return &products<T, Rows, kN, 4>;
    default:
      return nullptr;
  }
}

template <class T, template <int64_t> class Rows>
TinyGemm<T> of(const Gemm& g) {
  constexpr int64_t kMostRows = 8;  // more of them pay for finding their tile
  if (isa_level() == IsaLevel::kBase || g.m > kMostRows || g.accumulate) return nullptr;
  if (is_rows_by_column(g)) return of_terms<T, Rows, 0>(g.k);
  switch (g.n) {
    case 2:
      return of_terms<T, Rows, 2>(g.k);
    case 3:
      return of_terms<T, Rows, 3>(g.k);
    case 4:
      return of_terms<T, Rows, 4>(g.k);
    default:
      return nullptr;
  }
}

}  // namespace

template <>
TinyGemm<float> tiny_gemm<float>(const Gemm& g) {
  return of<float, Floats>(g);
}
template <>
TinyGemm<double> tiny_gemm<double>(const Gemm& g) {
  return of<double, Doubles>(g);
}

#else

template <class T>
TinyGemm<T> tiny_gemm(const Gemm&) {
  return nullptr;
}
template TinyGemm<float> tiny_gemm<float>(const Gemm&);
template TinyGemm<double> tiny_gemm<double>(const Gemm&);

#endif

}  // namespace spruce::cpu
