// SPDX-License-Identifier: Apache-2.0
// Random programs over arrays of all dtypes, at the ends of their ranges, signed zeros, NaN and
// infinities. Their operations are exact, or round in one way only: what is compiled gives the very
// elements of evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::random_programs {

/// One operation: `apply` may throw an Error for dtypes that it does not take.
struct TypedOp {
  const char* name;
  int operands;
  Array (*apply)(const std::vector<Array>& in, int64_t number);
};
const std::vector<TypedOp>& typed_ops();

struct TypedStep {
  const TypedOp* op;
  std::vector<int> in;  // numbers of values: the inputs, then the steps
  int64_t number;
};

struct TypedProgram {
  std::vector<Array> inputs;
  std::vector<TypedStep> steps;
  std::vector<int> outputs;

  /// The outputs for other inputs of the same types.
  std::vector<Array> run(const std::vector<Array>& in) const;
  /// The program that computes one value alone.
  TypedProgram of(int value) const;
  std::string text() const;
};

/// A program of about `size` steps.
TypedProgram generate_typed(uint64_t seed, int size);
/// Elements chosen from the extremes of a dtype.
Array extremes(uint64_t seed, const Shape& shape, Dtype dtype);

}  // namespace spruce::random_programs
