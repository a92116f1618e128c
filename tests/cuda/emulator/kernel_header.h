// SPDX-License-Identifier: Apache-2.0
// What the texts of kernels are compiled with by the host's compiler: the part of CUDA C++ that
// they use. It includes nothing, as NVRTC does. The emulator (block.cc) runs the threads of a
// block.
#pragma once

// Where a thread is, and what all threads of a block wait for.
extern "C" {
struct spruce_uint3 {
  unsigned x, y, z;
};
extern spruce_uint3 spruce_thread_idx, spruce_block_idx, spruce_block_dim, spruce_grid_dim;
extern char spruce_dynamic_shared[];
// All threads of the block; returns how many of them have given a predicate that is not 0.
unsigned spruce_block_barrier(int predicate);
// The lanes of the mask; each gives a value. `all` are the values of the 32 lanes.
const unsigned long long* spruce_warp_exchange(unsigned mask, unsigned long long value);
unsigned spruce_active_mask();
[[noreturn]] void spruce_trap(const char* why);
}

#define __global__
#define __device__
#define __host__
#define __constant__ static const
// In a section of its own, so that the emulator can fill it with NaN.
#define __shared__ static __attribute__((section("spruce_shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC_RTC__ 1

#define threadIdx spruce_thread_idx
#define blockIdx spruce_block_idx
#define blockDim spruce_block_dim
#define gridDim spruce_grid_dim
#define warpSize 32

typedef __SIZE_TYPE__ size_t;

#define SPRUCE_VECTOR(T, name)                                        \
  struct __align__(sizeof(T) * 2) name##2 {                           \
    T x, y;                                                           \
  };                                                                  \
  struct name##3 {                                                    \
    T x, y, z;                                                        \
  };                                                                  \
  struct __align__(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) name##4 { \
    T x, y, z, w;                                                     \
  };                                                                  \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }          \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }  \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SPRUCE_VECTOR(char, char)
SPRUCE_VECTOR(signed char, schar)
SPRUCE_VECTOR(unsigned char, uchar)
SPRUCE_VECTOR(short, short)
SPRUCE_VECTOR(unsigned short, ushort)
SPRUCE_VECTOR(int, int)
SPRUCE_VECTOR(unsigned, uint)
SPRUCE_VECTOR(long long, longlong)
SPRUCE_VECTOR(unsigned long long, ulonglong)
SPRUCE_VECTOR(float, float)
SPRUCE_VECTOR(double, double)
#undef SPRUCE_VECTOR

// --- mathematics ---------------------------------------------------------------------------------
// clang-format would indent each use as if it went on with the one before.
// clang-format off
#define SPRUCE_UNARY(name)         \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  inline float name(float x) { return name##f(x); }
SPRUCE_UNARY(sqrt) SPRUCE_UNARY(cbrt) SPRUCE_UNARY(exp) SPRUCE_UNARY(exp2) SPRUCE_UNARY(expm1)
SPRUCE_UNARY(log) SPRUCE_UNARY(log2) SPRUCE_UNARY(log10) SPRUCE_UNARY(log1p) SPRUCE_UNARY(sin)
SPRUCE_UNARY(cos) SPRUCE_UNARY(tan) SPRUCE_UNARY(asin) SPRUCE_UNARY(acos) SPRUCE_UNARY(atan)
SPRUCE_UNARY(sinh) SPRUCE_UNARY(cosh) SPRUCE_UNARY(tanh) SPRUCE_UNARY(asinh) SPRUCE_UNARY(acosh)
SPRUCE_UNARY(atanh) SPRUCE_UNARY(erf) SPRUCE_UNARY(erfc) SPRUCE_UNARY(lgamma) SPRUCE_UNARY(tgamma)
SPRUCE_UNARY(fabs) SPRUCE_UNARY(floor) SPRUCE_UNARY(ceil) SPRUCE_UNARY(trunc) SPRUCE_UNARY(rint)
SPRUCE_UNARY(round) SPRUCE_UNARY(nearbyint) SPRUCE_UNARY(logb)
#undef SPRUCE_UNARY
#define SPRUCE_BINARY(name)               \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  inline float name(float x, float y) { return name##f(x, y); }
SPRUCE_BINARY(pow) SPRUCE_BINARY(fmod) SPRUCE_BINARY(atan2) SPRUCE_BINARY(hypot) SPRUCE_BINARY(fmax)
SPRUCE_BINARY(fmin) SPRUCE_BINARY(copysign) SPRUCE_BINARY(nextafter) SPRUCE_BINARY(remainder)
SPRUCE_BINARY(fdim)
#undef SPRUCE_BINARY
extern "C" double fma(double, double, double);
// clang-format on
extern "C" float fmaf(float, float, float);
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" double frexp(double, int*);
extern "C" float frexpf(float, int*);
extern "C" double scalbn(double, int);
extern "C" float scalbnf(float, int);
extern "C" double modf(double, double*);
extern "C" float modff(float, float*);
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return float(1.0 / sqrt(double(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
inline int abs(int x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
// clang-format off
#define SPRUCE_MIN_MAX(T)                          \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
SPRUCE_MIN_MAX(int) SPRUCE_MIN_MAX(unsigned) SPRUCE_MIN_MAX(long) SPRUCE_MIN_MAX(unsigned long)
SPRUCE_MIN_MAX(long long) SPRUCE_MIN_MAX(unsigned long long)
#undef SPRUCE_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
// clang-format on
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

// --- bits ----------------------------------------------------------------------------------------
template <class To, class From>
inline To spruce_bits(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  __builtin_memcpy(&y, &x, sizeof(To));
  return y;
}
inline int __float_as_int(float x) { return spruce_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return spruce_bits<unsigned>(x); }
inline float __int_as_float(int x) { return spruce_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return spruce_bits<float>(x); }
inline long long __double_as_longlong(double x) { return spruce_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return spruce_bits<double>(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; ++i) y |= ((x >> i) & 1u) << (31 - i);
  return y;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned(((unsigned long long)a * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return (long long)(((__int128)a * b) >> 64);
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  n &= 31;
  return n == 0 ? hi : (hi << n) | (lo >> (32 - n));
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  n &= 31;
  return n == 0 ? lo : (hi << (32 - n)) | (lo >> n);
}

// --- memory --------------------------------------------------------------------------------------
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) {}
inline void __trap() { spruce_trap("__trap() was called"); }

// Threads switch at barriers alone, so that plain updates are atomic.
template <class T>
struct spruce_identity {
  typedef T type;
};
#define SPRUCE_ATOMIC(name, expression)                      \
  template <class T>                                         \
  inline T name(T* p, typename spruce_identity<T>::type v) { \
    const T old = *p;                                        \
    *p = expression;                                         \
    return old;                                              \
  }
SPRUCE_ATOMIC(atomicAdd, T(old + v))
SPRUCE_ATOMIC(atomicSub, T(old - v))
SPRUCE_ATOMIC(atomicExch, v)
SPRUCE_ATOMIC(atomicMin, old < v ? old : v)
SPRUCE_ATOMIC(atomicMax, old < v ? v : old)
SPRUCE_ATOMIC(atomicAnd, T(old& v))
SPRUCE_ATOMIC(atomicOr, T(old | v))
SPRUCE_ATOMIC(atomicXor, T(old ^ v))
#undef SPRUCE_ATOMIC
template <class T>
inline T atomicCAS(T* p, typename spruce_identity<T>::type compare,
                   typename spruce_identity<T>::type v) {
  const T old = *p;
  if (old == compare) *p = v;
  return old;
}

// --- blocks and warps ----------------------------------------------------------------------------
inline void __syncthreads() { spruce_block_barrier(0); }
inline int __syncthreads_count(int p) { return int(spruce_block_barrier(p)); }
inline int __syncthreads_or(int p) { return spruce_block_barrier(p) != 0; }
inline int __syncthreads_and(int p) { return spruce_block_barrier(!p) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu) { spruce_warp_exchange(mask, 0); }
inline unsigned __activemask() { return spruce_active_mask(); }

inline unsigned spruce_lane() {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return thread % 32;
}
template <class T>
inline T spruce_shuffle(unsigned mask, T v, unsigned source) {
  static_assert(sizeof(T) <= 8);
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  const unsigned long long* all = spruce_warp_exchange(mask, bits);
  T out;
  __builtin_memcpy(&out, &all[source], sizeof(T));
  return out;
}
template <class T>
inline T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
  const unsigned lane = spruce_lane();
  return spruce_shuffle(mask, v, (lane & ~unsigned(width - 1)) | (unsigned(source) & (width - 1)));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32) {
  const unsigned lane = spruce_lane(), to = lane ^ unsigned(lanes);
  return spruce_shuffle(mask, v, (to / width) > (lane / width) ? lane : to);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const unsigned lane = spruce_lane();
  return spruce_shuffle(mask, v, lane % width + delta >= unsigned(width) ? lane : lane + delta);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const unsigned lane = spruce_lane();
  return spruce_shuffle(mask, v, lane % width < delta ? lane : lane - delta);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned long long* all = spruce_warp_exchange(mask, predicate != 0);
  unsigned votes = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if ((mask >> i & 1u) && all[i] == 1) votes |= 1u << i;
  }
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T>
inline unsigned __match_any_sync(unsigned mask, T v) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  const unsigned long long* all = spruce_warp_exchange(mask, bits);
  unsigned same = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if ((mask >> i & 1u) && all[i] == bits) same |= 1u << i;
  }
  return same;
}
template <class T, class F>
inline T spruce_reduce(unsigned mask, T v, F f) {
  const unsigned long long* all = spruce_warp_exchange(mask, (unsigned long long)(v));
  bool first = true;
  T out = v;
  for (unsigned i = 0; i < 32; ++i) {
    if (!(mask >> i & 1u)) continue;
    out = first ? T(all[i]) : f(out, T(all[i]));
    first = false;
  }
  return out;
}
template <class T>
inline T __reduce_add_sync(unsigned mask, T v) {
  return spruce_reduce(mask, v, [](T a, T b) { return T(a + b); });
}
template <class T>
inline T __reduce_max_sync(unsigned mask, T v) {
  return spruce_reduce(mask, v, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
inline T __reduce_min_sync(unsigned mask, T v) {
  return spruce_reduce(mask, v, [](T a, T b) { return b < a ? b : a; });
}

// --- how the emulator calls a kernel -------------------------------------------------------------
template <size_t... I>
struct spruce_indices {};
template <size_t N, size_t... I>
struct spruce_make_indices : spruce_make_indices<N - 1, N - 1, I...> {};
template <size_t... I>
struct spruce_make_indices<0, I...> {
  typedef spruce_indices<I...> type;
};
template <class... A, size_t... I>
inline void spruce_call(void (*kernel)(A...), void** p, spruce_indices<I...>) {
  kernel(*static_cast<A*>(p[I])...);
}
template <class... A>
inline void spruce_call(void (*kernel)(A...), void** p) {
  spruce_call(kernel, p, typename spruce_make_indices<sizeof...(A)>::type());
}
template <class... A>
inline size_t spruce_sizes(void (*)(A...), size_t* sizes) {
  size_t n = 0;
  ((sizes != nullptr ? void(sizes[n] = sizeof(A)) : void(), ++n), ...);
  return n;
}
