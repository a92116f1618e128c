// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/prelude.h"

#include <cmath>
#include <cstdio>

namespace spruce::cuda {

std::string_view text_type(Dtype d) {
  switch (d) {
    case Dtype::kBool:
      return "bool";
    case Dtype::kInt8:
      return "sp::i8";
    case Dtype::kInt16:
      return "sp::i16";
    case Dtype::kInt32:
      return "sp::i32";
    case Dtype::kInt64:
      return "sp::i64";
    case Dtype::kUint8:
      return "sp::u8";
    case Dtype::kUint16:
      return "sp::u16";
    case Dtype::kUint32:
      return "sp::u32";
    case Dtype::kUint64:
      return "sp::u64";
    case Dtype::kFloat16:
      return "sp::f16";
    case Dtype::kBfloat16:
      return "sp::bf16";
    case Dtype::kFloat32:
      return "sp::f32";
    default:
      return "sp::f64";
  }
}

std::string_view compute_type(Dtype d) { return text_type(is_half(d) ? Dtype::kFloat32 : d); }

std::string literal(Dtype d, double value) {
  const std::string type(compute_type(d));
  if (!is_floating(d)) return literal(d, static_cast<int64_t>(value));
  if (std::isnan(value)) return "sp::quiet_nan<" + type + ">()";
  if (std::isinf(value))
    return std::string(value < 0 ? "(-" : "(") + "sp::infinity<" + type + ">())";
  char text[64];
  if (d == Dtype::kFloat64)
    std::snprintf(text, sizeof(text), "(%a)", value);
  else
    std::snprintf(text, sizeof(text), "(%af)", static_cast<double>(static_cast<float>(value)));
  return text;
}

std::string literal(Dtype d, int64_t value) {
  // Without a sign, since the lowest number has no literal of its own.
  return std::string(compute_type(d)) + "(" + std::to_string(static_cast<uint64_t>(value)) + "ull)";
}

}  // namespace spruce::cuda
