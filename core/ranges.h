// SPDX-License-Identifier: Apache-2.0
// Checks of numbers that are options: rates, shares, probabilities.
#pragma once

#include <cstdint>
#include <string>

#include "spruce/core/error.h"

namespace spruce::internal {

/// What an option may be. NaN is in none of them.
enum class Range : uint8_t {
  kFinite,       ///< any number but infinity
  kNotNegative,  ///< 0 <= x, finite
  kPositive,     ///< 0 < x; infinity too
  kShare,        ///< 0 <= x <= 1
  kDecay         ///< 0 <= x < 1
};

/// The shortest decimal number that reads back as the same one: "0.1", "1e-09", "nan".
std::string number_text(double x);
std::string number_text(float x);

/// Throws ValueError "adam: b1 is 1, it must be at least 0 and below 1" unless x is in the range.
void check_range(const char* op, const char* name, double x, Range range);
void check_range(const char* op, const char* name, float x, Range range);

}  // namespace spruce::internal
