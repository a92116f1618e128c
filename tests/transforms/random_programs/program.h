// SPDX-License-Identifier: Apache-2.0
// Random programs over arrays of one floating dtype, with integers in between: made from a seed,
// run by public operations, made smaller where they fail.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/linalg.h"

namespace spruce::random_programs {

using Arrays = std::vector<Array>;

enum class Op {
  kInput,
  kCapture,   // a value of the program around: ints = {number}
  kConstant,  // of its own seed: ints = {seed}
  kUnary,
  kBinary,
  kSelect,      // where(a > b + 0.1, c, d)
  kScale,       // x * number + 0.5
  kReduce,      // ints = axes
  kCumulative,  // ints = axis; which = 0: sum, 1: logsumexp, 2: max, 3: product of tanh
  kReshape,
  kTranspose,  // ints = the order
  kBroadcast,
  kSlice,  // ints = start, stop, step of each axis
  kPad,    // ints = low, high of each axis
  kConcatenate,
  kFlip,
  kRoll,  // x moved on along axis ints[0] by ints[1]
  kDot,
  kTake,         // ints = axis, then indices
  kTakeLargest,  // x at the place of y's largest element: ints = axis
  kScatter,      // x.at(i).add(y) or .set(y): ints = indices
  kGather,       // x at places that y says: ints = axis; which = 0: rows, 1: elements, 2: a slice
  kScatterAt,    // x.at(i).add(y), max, min or multiply, i as z says
  kSoftmax,
  kSort,  // ints = axis; which = 0: up, 1: down, 2: x in the order of y
  kConv,
  kWindow,  // which = 0: sum, 1: max, 2: min
  kVmap,    // ints = the axis of each input, -1 for none
  kJit,
  kCheckpoint,
  kGrad,  // of the sum, with respect to the first input
  kJvp,   // along inputs / 2 + 0.1
  kScan,  // body(carry, x) -> carry, y; which = 0: the carry, 1: the ys; ints = unroll, checkpoint
  kFori,  // ints = steps
  kWhile,
  kCond,
  kSwitch,
  kMap,
  kAssociative,  // along the first axis; which = 0: sum, 1: max, 2: product of tanh
};

struct Program;

/// One operation with one result.
struct Node {
  Op op = Op::kInput;
  int which = 0;
  std::vector<int> in;
  Shape shape;
  std::vector<int64_t> ints;
  double number = 0;
  DotParams dot;
  ConvParams conv;
  WindowParams window;
  std::vector<std::shared_ptr<const Program>> bodies;
};

/// Nodes in an order in which each comes after its inputs.
struct Program {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  Dtype dtype = float64;
  bool smooth = true;  // no kinks, no jumps: finite differences make sense

  std::string text(const std::string& indent = "") const;
};

/// Names and functions that `which` chooses from.
struct Unary {
  const char* name;
  Array (*apply)(const Array&);
  double (*bound)(double);  // of |result| where |x| is at most that
  bool smooth = true;
};
struct Binary {
  const char* name;
  Array (*apply)(const Array&, const Array&);
  double (*bound)(double, double);
  bool smooth = true;
};
struct Reduce {
  const char* name;
  Array (*apply)(const Array&, const Shape& axes);
  double (*bound)(double, double n);
  bool smooth = true;
};
const std::vector<Unary>& unaries();
const std::vector<Binary>& binaries();
const std::vector<Reduce>& reduces();

/// A program of about `size` nodes.
Program generate(uint64_t seed, int size);
/// Numbers for its inputs.
Arrays arguments(const Program& program, uint64_t seed);
/// Such numbers in an array.
Array numbers(uint64_t seed, const Shape& shape, Dtype dtype);
/// The program with values of another dtype.
Program converted(const Program& program, Dtype dtype);
/// The outputs. `outer` are the values of the program around, which captures name.
Arrays run(const Program& program, const Arrays& args, const Arrays& outer = {});

/// What does not agree, or nothing.
using Check = std::function<std::optional<std::string>(const Program&)>;
/// A smaller program that fails too.
Program shrunk(Program program, const Check& check);

}  // namespace spruce::random_programs
