// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ranges.h"

#include <charconv>
#include <cmath>

namespace spruce::internal {
namespace {

bool is_within(double x, Range range) {
  switch (range) {
    case Range::kFinite:
      return std::isfinite(x);
    case Range::kNotNegative:
      return x >= 0 && std::isfinite(x);
    case Range::kPositive:
      return x > 0;
    case Range::kShare:
      return x >= 0 && x <= 1;
    default:
      return x >= 0 && x < 1;
  }
}

const char* words(Range range) {
  switch (range) {
    case Range::kFinite:
      return "finite";
    case Range::kNotNegative:
      return "finite and not negative";
    case Range::kPositive:
      return "positive";
    case Range::kShare:
      return "within 0..1";
    default:
      return "at least 0 and below 1";
  }
}

template <class T>
std::string shortest(T x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

template <class T>
void check(const char* op, const char* name, T x, Range range) {
  if (is_within(static_cast<double>(x), range)) return;
  throw ValueError(std::string(op) + ": " + name + " is " + shortest(x) + ", it must be " +
                   words(range));
}

}  // namespace

std::string number_text(double x) { return shortest(x); }
std::string number_text(float x) { return shortest(x); }

void check_range(const char* op, const char* name, double x, Range range) {
  check(op, name, x, range);
}
void check_range(const char* op, const char* name, float x, Range range) {
  check(op, name, x, range);
}

}  // namespace spruce::internal
