// SPDX-License-Identifier: Apache-2.0
// Element types, their names and the promotion table.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "spruce/core/half.h"

namespace spruce {

/// The element types of arrays. Enumerators stand in the order of promotion within a kind.
enum class Dtype : uint8_t {
  kBool,      ///< bool: one byte, 0 or 1
  kInt8,      ///< int8_t
  kInt16,     ///< int16_t
  kInt32,     ///< int32_t
  kInt64,     ///< int64_t
  kUint8,     ///< uint8_t
  kUint16,    ///< uint16_t
  kUint32,    ///< uint32_t
  kUint64,    ///< uint64_t
  kFloat16,   ///< Float16: IEEE binary16
  kBfloat16,  ///< Bfloat16: the upper half of a float
  kFloat32,   ///< float
  kFloat64,   ///< double
};

/// Number of dtypes; they are 0 .. kDtypeCount - 1.
inline constexpr int kDtypeCount = 13;

inline constexpr Dtype bool_ = Dtype::kBool;         ///< prints as "bool": false and true
inline constexpr Dtype int8 = Dtype::kInt8;          ///< i8: -128 to 127
inline constexpr Dtype int16 = Dtype::kInt16;        ///< i16: -32768 to 32767
inline constexpr Dtype int32 = Dtype::kInt32;        ///< i32: -2^31 to 2^31 - 1
inline constexpr Dtype int64 = Dtype::kInt64;        ///< i64: -2^63 to 2^63 - 1
inline constexpr Dtype uint8 = Dtype::kUint8;        ///< u8: 0 to 255
inline constexpr Dtype uint16 = Dtype::kUint16;      ///< u16: 0 to 65535
inline constexpr Dtype uint32 = Dtype::kUint32;      ///< u32: 0 to 2^32 - 1
inline constexpr Dtype uint64 = Dtype::kUint64;      ///< u64: 0 to 2^64 - 1
inline constexpr Dtype float16 = Dtype::kFloat16;    ///< f16: 11 bits of precision, up to 65504
inline constexpr Dtype bfloat16 = Dtype::kBfloat16;  ///< bf16: 8 bits of precision, range of f32
inline constexpr Dtype float32 = Dtype::kFloat32;    ///< f32: 24 bits of precision, up to 3.4e38
inline constexpr Dtype float64 = Dtype::kFloat64;    ///< f64: 53 bits of precision, up to 1.8e308

/// Bytes of one element.
constexpr int64_t size_of(Dtype d) {
  constexpr int8_t bytes[kDtypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return bytes[static_cast<int>(d)];
}

/// True for bool, which counts as no integer.
constexpr bool is_bool(Dtype d) { return d == Dtype::kBool; }
/// True for f16, bf16, f32 and f64: the dtypes that have derivatives.
constexpr bool is_floating(Dtype d) { return d >= Dtype::kFloat16; }
/// True for f16 and bf16, which are stored so and computed in f32.
constexpr bool is_half(Dtype d) { return d == Dtype::kFloat16 || d == Dtype::kBfloat16; }
/// True for i8..i64 and u8..u64; false for bool.
constexpr bool is_integer(Dtype d) { return d >= Dtype::kInt8 && d <= Dtype::kUint64; }
/// True for i8, i16, i32 and i64.
constexpr bool is_signed_integer(Dtype d) { return d >= Dtype::kInt8 && d <= Dtype::kInt64; }
/// True for u8, u16, u32 and u64; false for bool.
constexpr bool is_unsigned_integer(Dtype d) { return d >= Dtype::kUint8 && d <= Dtype::kUint64; }

/// Short name as in printed types: "f32", "i64", "bool", "bf16".
std::string_view short_name(Dtype d);
/// Long name as in NumPy: "float32", "int64", "bool", "bfloat16".
std::string_view name(Dtype d);
/// Prints the short name.
std::ostream& operator<<(std::ostream& out, Dtype d);
/// The dtype with that short or long name. Throws DtypeError for any other text.
Dtype parse_dtype(std::string_view text);

/// The dtype of an operation on `a` and `b`: docs/promotion.md has the whole table. A weak operand
/// (a C++ scalar) gives way to the other one unless it is of a higher kind (bool < integer <
/// floating).
Dtype promote(Dtype a, bool a_weak, Dtype b, bool b_weak);
/// promote() of two strong operands.
inline Dtype promote(Dtype a, Dtype b) { return promote(a, false, b, false); }

/// The dtype for a C++ element type: dtype_of<float>() is float32.
template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Dtype::kBool;
  else if constexpr (std::is_same_v<T, Float16>)
    return Dtype::kFloat16;
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return Dtype::kBfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return Dtype::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return Dtype::kFloat64;
  else {
    static_assert(std::is_integral_v<T>, "spruce: no dtype has this C++ element type");
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<Dtype>(static_cast<int>(std::is_signed_v<T> ? Dtype::kInt8 : Dtype::kUint8) +
                              log2);
  }
}

/// Calls `f(T{})` with the C++ element type of `d`.
template <class F>
decltype(auto) visit_dtype(Dtype d, F&& f) {
  switch (d) {
    case Dtype::kBool:
      return f(bool{});
    case Dtype::kInt8:
      return f(int8_t{});
    case Dtype::kInt16:
      return f(int16_t{});
    case Dtype::kInt32:
      return f(int32_t{});
    case Dtype::kInt64:
      return f(int64_t{});
    case Dtype::kUint8:
      return f(uint8_t{});
    case Dtype::kUint16:
      return f(uint16_t{});
    case Dtype::kUint32:
      return f(uint32_t{});
    case Dtype::kUint64:
      return f(uint64_t{});
    case Dtype::kFloat16:
      return f(Float16{});
    case Dtype::kBfloat16:
      return f(Bfloat16{});
    case Dtype::kFloat32:
      return f(float{});
    default:
      return f(double{});
  }
}

}  // namespace spruce
