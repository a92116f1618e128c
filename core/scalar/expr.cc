// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/scalar/expr.h"

#include "spruce/core/error.h"

namespace spruce::scalar {
namespace {

Operand added(Operation o, std::initializer_list<Operand> operands) {
  Program* program = nullptr;
  for (const Operand& x : operands) program = program == nullptr ? x.program : program;
  if (program == nullptr) throw Error("an expression has no operand but constants");
  Node node{o.op, o.function, o.out, {-1, -1, -1}, 0};
  const bool chooses = o.op == Op::kSelect || o.op == Op::kUnlikely;
  size_t k = 0;
  for (const Operand& x : operands) {
    const Dtype dtype = chooses && k == 0 ? Dtype::kBool : o.in;
    node.in[k++] =
        x.program != nullptr ? static_cast<int>(x.payload) : program->constant(dtype, x.payload);
  }
  return {program, static_cast<uint64_t>(program->add(node))};
}

}  // namespace

Operand emit(Operation o, Operand a) { return added(o, {a}); }
Operand emit(Operation o, Operand a, Operand b) { return added(o, {a, b}); }
Operand emit(Operation o, Operand a, Operand b, Operand c) { return added(o, {a, b, c}); }

}  // namespace spruce::scalar
