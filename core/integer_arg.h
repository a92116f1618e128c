// SPDX-License-Identifier: Apache-2.0
// Integers that users hand over, as int64.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "spruce/core/error.h"

namespace spruce::internal {

/// Throws IndexError naming `op`: `value` is too large for int64.
[[noreturn]] void throw_wrapped(const char* op, uint64_t value, Loc loc);

/// `value` as int64. An unsigned number above all int64 is an IndexError: `v.size() - 1` of an
/// empty `v` would be -1 otherwise, which is the last element.
template <std::integral T>
constexpr int64_t index_of(const char* op, T value, Loc loc = Loc::none()) {
  if constexpr (std::unsigned_integral<T>) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (uint64_t{value} > kMost) throw_wrapped(op, uint64_t{value}, loc);
  }
  return static_cast<int64_t>(value);
}

/// The same with the largest int64 in place of what is too large for it, which is out of range
/// wherever it is used.
template <std::integral T>
constexpr int64_t axis_of(T value) {
  if constexpr (std::unsigned_integral<T>) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (uint64_t{value} > kMost) return std::numeric_limits<int64_t>::max();
  }
  return static_cast<int64_t>(value);
}

}  // namespace spruce::internal
