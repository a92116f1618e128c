// SPDX-License-Identifier: Apache-2.0
// The scalar part of the prelude. Operations have the semantics of the CPU's kernels: integers
// wrap, division by zero gives -1, NaN wins in max and min.
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kScalar = R"cuda(
#define SP static __device__ __forceinline__
#define SP_MEMBER __device__ __forceinline__
namespace sp {
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };

template <class To, class From> SP To bit_cast(From x) {
  union Both { From from; To to; } both;
  both.from = x;
  return both.to;
}

template <class T> struct Type {
  static constexpr bool floating = false, signed_integer = false, boolean = false;
};
template <> struct Type<f32> {
  static constexpr bool floating = true, signed_integer = false, boolean = false;
  typedef u32 Bits;
  static constexpr int digits = 24;
};
template <> struct Type<f64> {
  static constexpr bool floating = true, signed_integer = false, boolean = false;
  typedef u64 Bits;
  static constexpr int digits = 53;
};
template <> struct Type<bool> {
  static constexpr bool floating = false, signed_integer = false, boolean = true;
  typedef bool Unsigned;
  typedef bool Signed;
  static constexpr int digits = 1;
};
template <class T, class U, class S, bool kSigned> struct Integer {
  static constexpr bool floating = false, signed_integer = kSigned, boolean = false;
  typedef U Unsigned;
  typedef S Signed;
  static constexpr int digits = int(sizeof(T)) * 8 - (kSigned ? 1 : 0);
};
template <> struct Type<i8> : Integer<i8, u8, i8, true> {};
template <> struct Type<i16> : Integer<i16, u16, i16, true> {};
template <> struct Type<i32> : Integer<i32, u32, i32, true> {};
template <> struct Type<i64> : Integer<i64, u64, i64, true> {};
template <> struct Type<u8> : Integer<u8, u8, i8, false> {};
template <> struct Type<u16> : Integer<u16, u16, i16, false> {};
template <> struct Type<u32> : Integer<u32, u32, i32, false> {};
template <> struct Type<u64> : Integer<u64, u64, i64, false> {};
template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
template <class T> struct Half { static constexpr bool value = false; };
template <> struct Half<f16> { static constexpr bool value = true; };
template <> struct Half<bf16> { static constexpr bool value = true; };
// What T is computed in.
template <class T> struct Compute { typedef T type; };
template <> struct Compute<f16> { typedef f32 type; };
template <> struct Compute<bf16> { typedef f32 type; };

template <class T> SP T infinity() {
  if constexpr (Same<T, f64>::value) return bit_cast<f64>(0x7ff0000000000000ull);
  else return bit_cast<f32>(0x7f800000u);
}
template <class T> SP T quiet_nan() {
  if constexpr (Same<T, f64>::value) return bit_cast<f64>(0x7ff8000000000000ull);
  else return bit_cast<f32>(0x7fc00000u);
}
// The largest and the lowest value; infinite for floats.
template <class T> SP T most() {
  if constexpr (Type<T>::floating) return infinity<T>();
  else if constexpr (Type<T>::boolean) return true;
  else if constexpr (Type<T>::signed_integer)
    return T(typename Type<T>::Unsigned(~typename Type<T>::Unsigned(0)) >> 1);
  else return T(~T(0));
}
template <class T> SP T least() {
  if constexpr (Type<T>::floating) return -infinity<T>();
  else if constexpr (Type<T>::signed_integer) return T(-most<T>() - 1);
  else return T(0);
}

SP f32 widen(bf16 x) { return bit_cast<f32>(u32(x.bits) << 16); }
// Conversions of halves, to nearest, ties to even: instructions of the device. Elsewhere the same is
// written out; there NaN keeps its bits.
#ifdef __CUDA_ARCH__
SP f32 widen(f16 x) { f32 y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
SP bf16 to_bf16(f32 x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
SP f16 to_f16(f32 x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
#else
SP f32 widen(f16 x) {
  const u32 sign = u32(x.bits & 0x8000u) << 16, e = (x.bits >> 10) & 31u, m = x.bits & 0x3ffu;
  if (e == 31u) return bit_cast<f32>(sign | 0x7f800000u | (m << 13));
  if (e != 0u) return bit_cast<f32>(sign | ((e + 112u) << 23) | (m << 13));
  return bit_cast<f32>(bit_cast<u32>(f32(m) * 5.9604644775390625e-8f) | sign);
}
SP bf16 to_bf16(f32 x) {
  const u32 u = bit_cast<u32>(x);
  const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
  bf16 y;
  y.bits = u16(nan ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  return y;
}
SP f16 to_f16(f32 x) {
  const u32 u = bit_cast<u32>(x), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  u32 h;
  if (a >= 0x7f800000u) {
    h = 0x7c00u | (a > 0x7f800000u ? 0x200u : 0u);
  } else if (a >= 0x38800000u) {
    const u32 r = a - 0x38000000u + 0xfffu + ((a >> 13) & 1u);
    h = r >= 0x0f800000u ? 0x7c00u : r >> 13;
  } else {
    h = bit_cast<u32>(bit_cast<f32>(a) + 0.5f) - 0x3f000000u;
  }
  f16 y;
  y.bits = u16(sign | h);
  return y;
}
#endif
template <class T> SP T widen(T x) { return x; }

// A computed value as an element.
template <class T, class C> SP T narrow(C x) {
  if constexpr (Same<T, f16>::value) return to_f16(x);
  else if constexpr (Same<T, bf16>::value) return to_bf16(x);
  else return x;
}
// A computed value with the rounding of the element type T.
template <class T, class C> SP C rounded(C x) { return C(widen(narrow<T>(x))); }

// x as a float that rounds to 16 bits as x itself does.
SP f32 sticky(f64 x) {
  const f32 nearest = f32(x);
  if (f64(nearest) == x || x != x) return nearest;
  u32 bits = bit_cast<u32>(nearest);
  if ((nearest > x) == (x > 0)) --bits;
  return bit_cast<f32>(bits | 1u);
}
template <class To, class From> SP To to_integer(From x) {
  constexpr int excess = Type<To>::digits - Type<From>::digits;
  const From high = excess <= 0 ? From(most<To>())
                                : From(To(most<To>() >> (excess > 0 ? excess : 0)
                                                         << (excess > 0 ? excess : 0)));
  const From low = From(least<To>());
  const From inside = x > high ? high : x >= low ? x : low;
  const To value = x > high ? most<To>() : To(inside);
  return x == x ? value : To(0);
}
// Between computed values: From and To are what f16 and bf16 are computed in; kTo is the element.
template <class ToElement, class From> SP typename Compute<ToElement>::type convert(From x) {
  typedef typename Compute<ToElement>::type To;
  if constexpr (Half<ToElement>::value) {
    if constexpr (sizeof(From) < 4 || Same<From, f32>::value) return rounded<ToElement>(f32(x));
    else return rounded<ToElement>(sticky(f64(x)));
  } else if constexpr (Type<To>::boolean) {
    return x != From(0);
  } else if constexpr (Type<From>::floating && !Type<To>::floating) {
    return to_integer<To>(x);
  } else {
    return To(x);
  }
}

template <class T> SP T add(T a, T b) {
  if constexpr (Type<T>::boolean) return a || b;
  else if constexpr (Type<T>::floating) return a + b;
  else return T(u64(a) + u64(b));
}
template <class T> SP T sub(T a, T b) {
  if constexpr (Type<T>::floating) return a - b;
  else return T(u64(a) - u64(b));
}
template <class T> SP T mul(T a, T b) {
  if constexpr (Type<T>::boolean) return a && b;
  else if constexpr (Type<T>::floating) return a * b;
  else return T(u64(a) * u64(b));
}
template <class T> SP T div(T a, T b) {
  if constexpr (Type<T>::floating) {
    return a / b;
  } else {
    if (b == 0) return T(-1);
    if constexpr (Type<T>::signed_integer) {
      if (b == T(-1)) return T(u64(0) - u64(a));
    }
    return T(a / b);
  }
}
SP f32 float_rem(f32 a, f32 b) { return ::fmodf(a, b); }
SP f64 float_rem(f64 a, f64 b) { return ::fmod(a, b); }
template <class T> SP T rem(T a, T b) {
  if constexpr (Type<T>::floating) {
    return float_rem(a, b);
  } else {
    if (b == 0) return a;
    if constexpr (Type<T>::signed_integer) {
      if (b == T(-1)) return T(0);
    }
    return T(a % b);
  }
}
template <class T> SP T neg(T x) {
  if constexpr (Type<T>::floating) return -x;
  else return T(u64(0) - u64(x));
}
SP f32 float_abs(f32 x) { return bit_cast<f32>(bit_cast<u32>(x) & 0x7fffffffu); }
SP f64 float_abs(f64 x) { return bit_cast<f64>(bit_cast<u64>(x) & 0x7fffffffffffffffull); }
template <class T> SP T abs(T x) {
  if constexpr (Type<T>::floating) return float_abs(x);
  else if constexpr (Type<T>::signed_integer) return x < 0 ? T(u64(0) - u64(x)) : x;
  else return x;
}
template <class T> SP bool is_finite(T x) { return abs(x) < infinity<T>(); }
template <class T> SP T bit_and(T a, T b) { return T(a & b); }
template <class T> SP T bit_or(T a, T b) { return T(a | b); }
template <class T> SP T bit_xor(T a, T b) { return T(a ^ b); }
template <class T> SP T bit_not(T x) {
  if constexpr (Type<T>::boolean) return !x;
  else return T(~x);
}
template <class T> SP T shift_left(T a, T b) {
  typedef typename Type<T>::Unsigned U;
  const U by = U(b);
  return by < U(sizeof(T) * 8) ? T(u64(a) << by) : T(0);
}
// Fills with the sign of a signed type, or with zeros.
template <class T> SP T shift_right(T a, T b) {
  typedef typename Type<T>::Unsigned U;
  const U by = U(b), bits = U(sizeof(T) * 8);
  if constexpr (Type<T>::signed_integer) return T(a >> (by < bits ? by : U(bits - 1)));
  else return by < bits ? T(a >> by) : T(0);
}
template <class T> SP u64 magnitude(T x) {
  if constexpr (Type<T>::signed_integer) return x < 0 ? u64(0) - u64(x) : u64(x);
  else return u64(x);
}
template <class T> SP T gcd(T a, T b) {
  u64 x = magnitude(a), y = magnitude(b);
  while (y != 0) {
    const u64 r = x % y;
    x = y;
    y = r;
  }
  return T(x);
}
SP f32 copysign(f32 a, f32 b) {
  return bit_cast<f32>((bit_cast<u32>(a) & 0x7fffffffu) | (bit_cast<u32>(b) & 0x80000000u));
}
SP f64 copysign(f64 a, f64 b) {
  return bit_cast<f64>((bit_cast<u64>(a) & 0x7fffffffffffffffull) |
                       (bit_cast<u64>(b) & 0x8000000000000000ull));
}
#define SP_UNARY(name)                                  \
  SP f32 name(f32 x) { return ::name##f(x); }           \
  SP f64 name(f64 x) { return ::name(x); }
SP_UNARY(exp)
SP_UNARY(log)
SP_UNARY(log1p)
SP_UNARY(sqrt)
SP_UNARY(floor)
SP_UNARY(ceil)
SP_UNARY(trunc)
SP_UNARY(rint)
#undef SP_UNARY
SP f32 fused_multiply_add(f32 a, f32 b, f32 c) { return ::fmaf(a, b, c); }
SP f64 fused_multiply_add(f64 a, f64 b, f64 c) { return ::fma(a, b, c); }
// x * 2^n for a whole n, by two powers of two: rounded once where x is near 1.
SP f32 scale(f32 x, f32 n) {
  const int k = int(n < -250 ? -250 : n > 250 ? 250 : n), half = k >> 1;
  return x * bit_cast<f32>(u32(half + 127) << 23) * bit_cast<f32>(u32(k - half + 127) << 23);
}
SP f64 scale(f64 x, f64 n) {
  const i64 k = i64(n < -2000 ? -2000 : n > 2000 ? 2000 : n), half = k >> 1;
  return x * bit_cast<f64>(u64(half + 1023) << 52) * bit_cast<f64>(u64(k - half + 1023) << 52);
}
SP f32 float_pow(f32 a, f32 b) { return ::powf(a, b); }
SP f64 float_pow(f64 a, f64 b) { return ::pow(a, b); }
// Of integers.
template <class T> SP T pow(T a, T b) {
  if constexpr (Type<T>::signed_integer) {
    if (b < 0) return a == 1 || (a == T(-1) && b % 2 == 0) ? T(1) : a == T(-1) ? T(-1) : T(0);
  }
  u64 power = 1, square = u64(a);
  for (u64 n = u64(b); n != 0; n >>= 1) {
    if ((n & 1) != 0) power *= square;
    square *= square;
  }
  return T(power);
}
}  // namespace sp
)cuda";

}  // namespace

std::string_view scalar_prelude() { return kScalar; }

}  // namespace spruce::cuda
