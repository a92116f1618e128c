// SPDX-License-Identifier: Apache-2.0
// The rules of arithmetic that the pass `algebra` applies, each with the dtypes in which it holds.
#pragma once

#include <vector>

#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {

/// Sets of dtypes.
enum class Types : uint8_t {
  kAll,
  kBool,
  kIntegers,
  kFloats,
  kNumbers,   // integers and floats
  kSigned,    // signed integers and floats
  kUnsigned,  // bool and unsigned integers
};
bool contains(Types types, Dtype dtype);

/// What a rule may do to the sign of a zero.
enum class Zeros : uint8_t { kKept, kAnySign };

/// "text" says what becomes what. The rule is tried on applications of `primitive` whose first
/// operand has one of the dtypes. It is exact, NaN and infinities included, but for the sign of
/// zeros where it says so, and for the last bit of `pow`.
struct Law {
  const Primitive* primitive;
  Types types;
  const char* text;
  Rule rule;
  Zeros zeros = Zeros::kKept;
};

/// All of them; of the rules of one primitive, the first that applies is taken.
const std::vector<Law>& laws();

}  // namespace spruce::passes
