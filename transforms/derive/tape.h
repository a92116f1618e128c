// SPDX-License-Identifier: Apache-2.0
// Reverse mode: a tape of the linear operations between the tangents of inputs and of outputs, and
// its transpose.
#pragma once

#include "spruce/core/interpreter.h"

namespace spruce::internal {

/// Records what is done to linear values (tangents) and leaves all else to the interpreter outside.
/// The record is a flat list, so that its length never becomes depth of a call stack.
class Tape final : public Interpreter {
 public:
  Tape() = default;

  /// A new linear input.
  Array input(const Aval& aval);
  void process(const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) override;
  std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                    std::span<const Array> in) override;
  const char* name() const override { return "grad"; }

  /// The cotangents of the inputs (undefined where zero) from those of `outputs`: linear values of
  /// this tape, or undefined ones. Runs under the current interpreter. The tape can be transposed
  /// many times.
  std::vector<Array> transpose(std::span<const Array> outputs,
                               std::span<const Array> cotangents) const;
  /// The tangents of `outputs` from those of the inputs: the linear map itself. Undefined is zero.
  std::vector<Array> apply(std::span<const Array> outputs, std::span<const Array> tangents) const;

  size_t operations() const { return operations_.size(); }

 private:
  struct Operand {
    Array constant;       // defined: a value from outside of the tape
    int64_t linear = -1;  // else: the number of a linear value
  };
  struct Operation {
    const Primitive* p;
    Params params;
    size_t first_operand, operands, first_result, results;
    Loc loc;
  };
  Array make(const Aval& aval, int64_t number) const;
  int64_t number_of(const Array& a) const;

  std::vector<Aval> avals_;  // of each linear value
  std::vector<int64_t> inputs_;
  std::vector<Operand> operands_;
  std::vector<Operation> operations_;
};

/// True where a rule runs for reverse mode: on a tape, or within a vmap on one, where a tangent is
/// recorded. A loop must then be split into one for values and one for tangents.
bool in_reverse_mode(std::span<const Array> tangents);

}  // namespace spruce::internal
