// SPDX-License-Identifier: Apache-2.0
// Forward mode: values that carry a tangent.
#pragma once

#include "spruce/core/interpreter.h"

namespace spruce::internal {

/// Runs each operation by its jvp rule. The rule itself runs under `rules`: the interpreter outside
/// for jvp, a tape of linear operations for grad.
class DualInterpreter : public Interpreter {
 public:
  /// `rules` is null for "the one that was current when this was made".
  explicit DualInterpreter(const char* name) : name_(name), rules_(parent()) {}
  DualInterpreter(const char* name, Interpreter* rules) : name_(name), rules_(rules) {}

  /// A value with a tangent; `primal` itself where the tangent is undefined (zero).
  Array make(const Array& primal, const Array& tangent) const;
  /// The value of a result: without the tangent, if it has one.
  Array primal(const Array& a) const;
  /// The tangent of a result; undefined if it is zero.
  Array tangent(const Array& a) const;

  void process(const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) override;
  std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                    std::span<const Array> in) override;
  const char* name() const override { return name_; }

 private:
  const char* name_;
  Interpreter* rules_;
};

}  // namespace spruce::internal
