// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/tree/static_text.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <unordered_set>

namespace spruce::tree::internal {
namespace {

template <class T>
std::string shortest(T x) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

template <class T, class Bits>
std::string text_of(T x) {
  const auto bits = std::bit_cast<Bits>(x),
             usual = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  if (!std::isnan(x)) return shortest(x);
  const std::string sign = (bits & kSign) != 0 ? "-" : "";
  if ((bits & ~kSign) == (usual & ~kSign)) return sign + "nan";
  return sign + "nan(" + std::to_string(bits & ~kSign) + ")";
}

}  // namespace

std::string float_text(float x) { return text_of<float, uint32_t>(x); }
std::string float_text(double x) { return text_of<double, uint64_t>(x); }
std::string float_text(long double x) {
  return std::isnan(x) ? float_text(static_cast<double>(x)) : shortest(x);
}

std::string_view kept_text(std::string_view text) {
  static std::mutex mutex;
  static auto* const texts = new std::unordered_set<std::string>;  // outlives what refers to it
  const std::lock_guard lock(mutex);
  return *texts->emplace(text).first;
}

}  // namespace spruce::tree::internal
