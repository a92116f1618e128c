// SPDX-License-Identifier: Apache-2.0
// Vectors of floats, doubles and pairs of bf16 for kernels whose registers are laid out by hand:
// the same names in a namespace for each instruction set. keep() makes the compiler hold a vector
// in its register instead of loading it again for each use.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "spruce/core/cpu/targets.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu::simd {

/// Two neighbouring terms of a sum of products of bf16, where they stand in memory.
struct __attribute__((packed, aligned(2), may_alias)) Bf16Pair {
  uint32_t bits;  ///< the first one in the lower half
};

// 16 bytes of any processor.
namespace base {

template <class T>
struct Vector {
  static constexpr int kLanes = 16 / sizeof(T);
  typedef T Type __attribute__((vector_size(16)));
  static SPRUCE_INLINE Type zero() { return Type{}; }
  static SPRUCE_INLINE Type repeat(T x) { return Type{} + x; }
  static SPRUCE_INLINE Type load(const T* p) {
    Type v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
  static SPRUCE_INLINE void store(T* p, Type v) { std::memcpy(p, &v, sizeof(v)); }
  using Mask = int64_t;  // lanes
  static SPRUCE_INLINE Mask first(int64_t lanes) { return lanes; }
  static SPRUCE_INLINE Type load(const T* p, Mask lanes) {
    if (lanes == kLanes) return load(p);
    Type v = zero();
    for (int64_t i = 0; i < lanes; ++i) v[i] = p[i];
    return v;
  }
  static SPRUCE_INLINE void store(T* p, Type v, Mask lanes) {
    if (lanes == kLanes) return store(p, v);
    for (int64_t i = 0; i < lanes; ++i) p[i] = v[i];
  }
  static SPRUCE_INLINE void keep(Type&) {}
  static SPRUCE_INLINE Type plus(Type a, Type b) { return a + b; }
  static SPRUCE_INLINE Type fma(Type a, Type b, Type c) { return a * b + c; }
};

}  // namespace base

#if SPRUCE_HAS_X86_TARGETS

namespace v3 {

template <class T>
struct Vector;

template <>
struct Vector<float> {
  static constexpr int kLanes = 8;
  using Type = __m256;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type zero() { return _mm256_setzero_ps(); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type repeat(float x) { return _mm256_set1_ps(x); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const float* p) { return _mm256_loadu_ps(p); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(float* p, Type v) { _mm256_storeu_ps(p, v); }
  using Mask = __m256i;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Mask first(int64_t lanes) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(lanes)),
                              _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const float* p, Mask m) {
    return _mm256_maskload_ps(p, m);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(float* p, Type v, Mask m) {
    _mm256_maskstore_ps(p, m, v);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void keep(Type& v) { asm("" : "+x"(v)); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type plus(Type a, Type b) { return _mm256_add_ps(a, b); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type fma(Type a, Type b, Type c) {
    return _mm256_fmadd_ps(a, b, c);
  }
};

template <>
struct Vector<double> {
  static constexpr int kLanes = 4;
  using Type = __m256d;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type zero() { return _mm256_setzero_pd(); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type repeat(double x) { return _mm256_set1_pd(x); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const double* p) { return _mm256_loadu_pd(p); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(double* p, Type v) { _mm256_storeu_pd(p, v); }
  using Mask = __m256i;
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Mask first(int64_t lanes) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), _mm256_set_epi64x(3, 2, 1, 0));
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type load(const double* p, Mask m) {
    return _mm256_maskload_pd(p, m);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void store(double* p, Type v, Mask m) {
    _mm256_maskstore_pd(p, m, v);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE void keep(Type& v) { asm("" : "+x"(v)); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type plus(Type a, Type b) { return _mm256_add_pd(a, b); }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE Type fma(Type a, Type b, Type c) {
    return _mm256_fmadd_pd(a, b, c);
  }
};

}  // namespace v3

namespace v4 {

template <class T>
struct Vector;

template <>
struct Vector<float> {
  static constexpr int kLanes = 16;
  using Type = __m512;
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type zero() { return _mm512_setzero_ps(); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type repeat(float x) { return _mm512_set1_ps(x); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type load(const float* p) { return _mm512_loadu_ps(p); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void store(float* p, Type v) { _mm512_storeu_ps(p, v); }
  using Mask = __mmask16;
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Mask first(int64_t lanes) {
    return static_cast<Mask>((1u << lanes) - 1);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type load(const float* p, Mask m) {
    return _mm512_maskz_loadu_ps(m, p);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void store(float* p, Type v, Mask m) {
    _mm512_mask_storeu_ps(p, m, v);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void keep(Type& v) { asm("" : "+v"(v)); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type plus(Type a, Type b) { return _mm512_add_ps(a, b); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type fma(Type a, Type b, Type c) {
    return _mm512_fmadd_ps(a, b, c);
  }
};

template <>
struct Vector<double> {
  static constexpr int kLanes = 8;
  using Type = __m512d;
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type zero() { return _mm512_setzero_pd(); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type repeat(double x) { return _mm512_set1_pd(x); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type load(const double* p) { return _mm512_loadu_pd(p); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void store(double* p, Type v) { _mm512_storeu_pd(p, v); }
  using Mask = __mmask8;
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Mask first(int64_t lanes) {
    return static_cast<Mask>((1u << lanes) - 1);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type load(const double* p, Mask m) {
    return _mm512_maskz_loadu_pd(m, p);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void store(double* p, Type v, Mask m) {
    _mm512_mask_storeu_pd(p, m, v);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE void keep(Type& v) { asm("" : "+v"(v)); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type plus(Type a, Type b) { return _mm512_add_pd(a, b); }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Type fma(Type a, Type b, Type c) {
    return _mm512_fmadd_pd(a, b, c);
  }
};

}  // namespace v4

// Operands are pairs of bf16; results and what is added to are floats.
namespace bf16 {

// The pairs of 16 columns from kFirst on, of the 32 whose terms stand in x and y.
template <int kFirst, int... kLane>
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512i interleaved(__m512i x, __m512i y,
                                                   std::integer_sequence<int, kLane...>) {
  typedef short Words __attribute__((vector_size(64)));
  return reinterpret_cast<__m512i>(
      __builtin_shufflevector(reinterpret_cast<Words>(x), reinterpret_cast<Words>(y),
                              ((kLane % 2 == 0 ? 0 : 32) + kFirst + kLane / 2)...));
}
template <int kFirst>
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512i interleaved(__m512i x, __m512i y) {
  return interleaved<kFirst>(x, y, std::make_integer_sequence<int, 32>{});
}

template <class T>
struct Vector;

template <>
struct Vector<Bf16Pair> : v4::Vector<float> {
  using Floats = v4::Vector<float>;
  using Floats::load;
  using Floats::store;
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE Type repeat(Bf16Pair x) {
    return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(x.bits)));
  }
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE Type load(const Bf16Pair* p) {
    return _mm512_loadu_ps(p);
  }
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE Type load(const Bf16Pair* p, Mask m) {
    return _mm512_maskz_loadu_ps(m, p);
  }
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE void store(Bf16Pair* p, Type v) {
    _mm512_storeu_ps(p, v);
  }
  // Sums are rounded to nearest; subnormal numbers are zeros.
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE Type fma(Type a, Type b, Type c) {
    return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  // The pairs of up to 32 columns of two rows, `step` bytes apart, whose first term p points to.
  // lanes: of the last vector; all, if kWhole.
  template <int kVectors, bool kWhole>
  SPRUCE_TARGET_BF16 static SPRUCE_INLINE void load_rows(const Bf16Pair* p, int64_t step,
                                                         Mask lanes, Type (&to)[kVectors]) {
    const __mmask32 columns = kVectors == 2 ? 0xffffu | static_cast<__mmask32>(lanes) << 16 : lanes;
    const void* const next = reinterpret_cast<const char*>(p) + step;
    __m512i x, y;
    if constexpr (kWhole && kVectors == 2) {
      x = _mm512_loadu_si512(p), y = _mm512_loadu_si512(next);
    } else {
      x = _mm512_maskz_loadu_epi16(columns, p), y = _mm512_maskz_loadu_epi16(columns, next);
    }
    to[0] = _mm512_castsi512_ps(interleaved<0>(x, y));
    if constexpr (kVectors == 2) to[1] = _mm512_castsi512_ps(interleaved<16>(x, y));
  }
};

}  // namespace bf16

#endif

}  // namespace spruce::cpu::simd
