// SPDX-License-Identifier: Apache-2.0
// The name that errors bear.
#pragma once

#include "spruce/core/error.h"

namespace spruce {

/// While it lives, errors that begin with the name of an operation ("sum: ...") begin with `op`
/// ("std: ...") instead, unless an operation further out has set a name already: so operations that
/// are made of others speak of themselves. With a Loc it is a LocScope too.
class OpScope {
 public:
  /// `op` has to live as long; what sets the name takes it away at the end.
  explicit OpScope(const char* op, Loc loc = LocScope::current())
      : at_(loc), outermost_(current_ == nullptr) {
    if (outermost_) current_ = op;
  }
  ~OpScope() {
    if (outermost_) current_ = nullptr;
  }
  OpScope(const OpScope&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  OpScope& operator=(const OpScope&) = delete;

  /// The name; null where no operation has set one.
  static const char* current() { return current_; }

 private:
  static inline thread_local const char* current_ = nullptr;
  LocScope at_;
  bool outermost_;
};

}  // namespace spruce
