// SPDX-License-Identifier: Apache-2.0
// What an elementwise function does to one element, as a typed program in single assignment. It
// names no device: generators of code lower it to their instructions or to text.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spruce/core/dtype.h"

namespace spruce::scalar {

/// Operations. a, b and c are the operands; both sides and the result have one dtype unless it is
/// said otherwise. Every operation is defined for all values. No float operation is fused with
/// another or reordered, and every one is rounded once.
enum class Op : uint8_t {
  kConstant,  ///< Node::bits, the lower bytes of which are the element
  kInput,     ///< input Node::bits of the program
  kAdd,       ///< integers wrap, here and below
  kSub,
  kMul,
  kDiv,    ///< integers: rounded to zero; -1 (all bits set) where b is 0
  kRem,    ///< integers only: a where b is 0
  kFma,    ///< floats: a * b + c, rounded once
  kScale,  ///< f32, f64: a * 2^b, rounded once, for a whole b
  kNeg,
  kAbs,
  kCopysign,  ///< floats: a with the sign of b
  kSqrt,      ///< floats, as the next four
  kFloor,
  kCeil,
  kRound,  ///< halves to even
  kTrunc,
  kMin,       ///< a < b ? a : b, so b where one is NaN
  kMax,       ///< a > b ? a : b
  kEqual,     ///< to bool, of any dtype, as the next five; false where one is NaN
  kNotEqual,  ///< true where one is NaN
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kSelect,    ///< a ? b : c, for a bool a
  kUnlikely,  ///< the same, where a is hardly ever true: b may be left to a slower way
  kAnd,       ///< bits of integers, or bool, as the next three
  kOr,
  kXor,
  kNot,
  kShiftLeft,   ///< integers: b is taken without its sign; 0 from the width on
  kShiftRight,  ///< integers: fills with zeros, or with the sign of a signed dtype
  kConvert,     ///< any dtype to any: as convert_element_type
  kBitcast,     ///< the same bits as another dtype of that size
  kCall,        ///< Node::function of a and b
};

/// Functions that no program is written for: back ends call a library.
enum class Function : uint8_t {
  kNone,
  kSin,  ///< f64, as all up to kLgamma
  kCos,
  kTan,
  kLgamma,     ///< log |gamma(a)|
  kFmod,       ///< f32 and f64: C's
  kPow,        ///< integers: a to the power b, wrapping; rounded to zero where b < 0
  kGcd,        ///< integers: of the magnitudes
  kPolygamma,  ///< f64: of the order b, a whole constant, at a
};

struct Node {
  Op op = Op::kConstant;
  Function function = Function::kNone;
  Dtype dtype = Dtype::kBool;  ///< of the result
  std::array<int, 3> in = {-1, -1, -1};
  uint64_t bits = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

/// Nodes in the order in which they can be computed; a value is the number of its node.
class Program {
 public:
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](int value) const { return nodes_[static_cast<size_t>(value)]; }
  Dtype dtype(int value) const { return (*this)[value].dtype; }
  void clear() { nodes_.clear(); }

  /// The value of a node: a node that is there already is not added again, and what changes nothing
  /// or adds up constants of integers is simplified.
  int add(Node node);
  int add(Op op, Dtype dtype, int a, int b = -1, int c = -1) {
    return add({op, Function::kNone, dtype, {a, b, c}, 0});
  }
  int constant(Dtype dtype, uint64_t bits) {
    return add({Op::kConstant, Function::kNone, dtype, {-1, -1, -1}, bits});
  }
  int input(Dtype dtype, int index) {
    return add({Op::kInput, Function::kNone, dtype, {-1, -1, -1}, static_cast<uint64_t>(index)});
  }

 private:
  int simplified(const Node& node);

  std::vector<Node> nodes_;
};

}  // namespace spruce::scalar
