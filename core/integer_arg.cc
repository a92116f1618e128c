// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/integer_arg.h"

#include <string>

namespace spruce::internal {

void throw_wrapped(const char* op, uint64_t value, Loc loc) {
  const LocScope at(loc);
  throw IndexError(std::string(op) + ": the unsigned index " + std::to_string(value) +
                   " is out of range for every array; below zero, unsigned numbers start over from "
                   "the largest one: compute it with int64_t");
}

}  // namespace spruce::internal
