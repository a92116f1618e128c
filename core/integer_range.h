// SPDX-License-Identifier: Apache-2.0
// What integers of a dtype can be.
#pragma once

#include <cstdint>

#include "spruce/core/dtype.h"

namespace spruce {

/// The largest value of an integer dtype.
constexpr uint64_t largest_integer(Dtype d) {
  return UINT64_MAX >> (64 - 8 * size_of(d) + (is_signed_integer(d) ? 1 : 0));
}
/// The smallest one.
constexpr int64_t smallest_integer(Dtype d) {
  return is_signed_integer(d) ? -static_cast<int64_t>(largest_integer(d)) - 1 : 0;
}

}  // namespace spruce
