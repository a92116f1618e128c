// SPDX-License-Identifier: Apache-2.0
// Errors about traced values in places that they must not get to.
#pragma once

#include <string>

#include "spruce/core/array.h"
#include "spruce/core/interpreter.h"

namespace spruce::internal {

/// While it lives, functions run that were given to custom_vjp and the like: a traced value that is
/// of no use there has been captured by one of them.
class RuleKindScope {
 public:
  /// `around` is the interpreter that the functions are called from; it does not see what they do.
  explicit RuleKindScope(const RuleKind& kind, const Interpreter* around = nullptr)
      : outer_(current_), kind_(kind), around_(around != nullptr ? around->id() : 0) {
    current_ = this;
  }
  ~RuleKindScope() { current_ = outer_; }
  RuleKindScope(const RuleKindScope&) = delete;
  RuleKindScope& operator=(const RuleKindScope&) = delete;

  /// The kind of the innermost one of this thread; null where there is none.
  static const RuleKind* current() { return current_ != nullptr ? &current_->kind_ : nullptr; }
  /// True for a value of an interpreter around the functions that does not run meanwhile.
  static bool captures(const Array& a);

 private:
  const RuleKindScope* outer_;
  const RuleKind& kind_;
  uint64_t around_;
  static inline thread_local const RuleKindScope* current_ = nullptr;
};

/// Throws TracerError: `who` was given a traced value whose function has ended, or, within a
/// RuleKindScope, one that is captured.
[[noreturn]] void throw_escaped(const std::string& who, const Array& value);

}  // namespace spruce::internal
