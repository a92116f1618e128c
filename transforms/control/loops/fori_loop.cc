// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/fori_loop.h"

#include "spruce/core/rules/shape.h"

namespace spruce::internal {

namespace {

void check_bound(const Array& bound) {
  const std::string text = "fori_loop: a bound is " + to_string(bound.aval());
  if (!is_integer(bound.dtype()))
    throw DtypeError(text + ", not an integer; convert it with astype");
  if (bound.rank() != 0) throw ShapeError(text + "; it must be one number");
}

}  // namespace

std::pair<Array, Array> common_bounds(const Array& lower, const Array& upper) {
  check_bound(lower);
  check_bound(upper);
  if (lower.dtype() == upper.dtype()) return {lower, upper};
  // As if both were strong: a weak one, too, may be too large for the other's dtype.
  const Dtype common = promote(lower.dtype(), false, upper.dtype(), false);
  if (!is_integer(common))
    throw DtypeError("fori_loop: the bounds are " + to_string(lower.aval()) + " and " +
                     to_string(upper.aval()) +
                     ", and no integer dtype holds both; convert one of them with astype");
  return {rules::convert(lower, common), rules::convert(upper, common)};
}

int64_t step_count(int64_t first, int64_t last) {
  int64_t steps = 0;
  if (last > first && __builtin_sub_overflow(last, first, &steps)) {
    throw ValueError("fori_loop: the bounds are " + std::to_string(first) + " and " +
                     std::to_string(last) +
                     ", which are more than 2^63 - 1 steps apart; nest two loops");
  }
  return steps;
}

void throw_bound(uint64_t bound) {
  throw ValueError("fori_loop: the bound " + std::to_string(bound) +
                   " is above 2^63 - 1, the largest index; count from a smaller one");
}

}  // namespace spruce::internal
