// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/dtype.h"

#include <ostream>
#include <string>

#include "spruce/core/error.h"

namespace spruce {
namespace {

constexpr std::string_view kShort[kDtypeCount] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                                  "u32",  "u64", "f16", "bf16", "f32", "f64"};
constexpr std::string_view kLong[kDtypeCount] = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};

int kind(Dtype d) { return is_bool(d) ? 0 : is_integer(d) ? 1 : 2; }

Dtype promote_integers(Dtype a, Dtype b) {
  if (is_signed_integer(a) == is_signed_integer(b)) return a > b ? a : b;
  const Dtype s = is_signed_integer(a) ? a : b, u = is_signed_integer(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  if (u == Dtype::kUint64) return Dtype::kFloat32;
  return static_cast<Dtype>(static_cast<int>(u) - static_cast<int>(Dtype::kUint8) +
                            static_cast<int>(Dtype::kInt8) + 1);
}

}  // namespace

std::string_view short_name(Dtype d) { return kShort[static_cast<int>(d)]; }
std::string_view name(Dtype d) { return kLong[static_cast<int>(d)]; }
std::ostream& operator<<(std::ostream& out, Dtype d) { return out << short_name(d); }

Dtype parse_dtype(std::string_view text) {
  for (int i = 0; i < kDtypeCount; ++i) {
    if (text == kShort[i] || text == kLong[i]) return static_cast<Dtype>(i);
  }
  throw DtypeError("parse_dtype: '" + std::string(text) +
                   "' names no dtype; write one like f32 or float32");
}

Dtype promote(Dtype a, bool a_weak, Dtype b, bool b_weak) {
  if (a == b) return a;
  if (a_weak != b_weak) {
    const Dtype weak = a_weak ? a : b, strong = a_weak ? b : a;
    if (kind(weak) <= kind(strong)) return strong;
    return kind(weak) == 2 ? Dtype::kFloat32 : Dtype::kInt32;
  }
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (kind(a) == 1) return promote_integers(a, b);
  const bool halves = size_of(a) == 2 && size_of(b) == 2;
  return halves ? Dtype::kFloat32 : (a > b ? a : b);
}

}  // namespace spruce
