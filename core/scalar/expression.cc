// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/scalar/expression.h"

#include <algorithm>
#include <bit>

namespace spruce::scalar {

int widened(Program& program, int value) {
  if (!is_half(program.dtype(value))) return value;
  return program.add(Op::kConvert, Dtype::kFloat32, value);
}

int result(const ScalarArgs& a, Operand value, Dtype dtype) {
  const int made = value.program == nullptr ? a.program.constant(dtype, value.payload)
                                            : static_cast<int>(value.payload);
  return dtype == a.out ? made : a.program.add(Op::kConvert, a.out, made);
}

namespace {

int applied(Op op, Function function, const ScalarArgs& a) {
  Node node{op, function, is_half(a.out) ? Dtype::kFloat32 : a.out, {-1, -1, -1}, 0};
  for (size_t i = 0; i < a.in.size(); ++i) node.in[i] = widened(a.program, a.in[i]);
  const int made = a.program.add(node);
  return node.dtype == a.out ? made : a.program.add(Op::kConvert, a.out, made);
}

}  // namespace

int apply(Op op, const ScalarArgs& a) { return applied(op, Function::kNone, a); }
int call_of(Function function, const ScalarArgs& a) { return applied(Op::kCall, function, a); }

int apply_as_they_are(Op op, const ScalarArgs& a) {
  Node node{op, Function::kNone, a.out, {-1, -1, -1}, 0};
  std::copy(a.in.begin(), a.in.end(), node.in.begin());
  return a.program.add(node);
}

int shift_right_of(bool has_sign, const ScalarArgs& a) {
  const int size = std::countr_zero(static_cast<unsigned>(size_of(a.out)));
  const Dtype first = has_sign ? Dtype::kInt8 : Dtype::kUint8;
  const auto type = static_cast<Dtype>(static_cast<int>(first) + size);
  const int x = a.program.add(Op::kBitcast, type, a.in[0]),
            by = a.program.add(Op::kBitcast, type, a.in[1]);
  return a.program.add(Op::kBitcast, a.out, a.program.add(Op::kShiftRight, type, x, by));
}

int identity(const ScalarArgs& a) { return a.in[0]; }

}  // namespace spruce::scalar
