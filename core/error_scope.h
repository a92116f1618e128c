// SPDX-License-Identifier: Apache-2.0
// What errors say about the part of a model that they arise in. Of the library.
#pragma once

#include <string>

namespace spruce::internal {

/// While it lives, errors of this thread that are made name the part that it stands for: "Net:
/// layer blocks.0.fc (Linear): " in front of the message, of all the scopes that live.
class ErrorScope {
 public:
  ErrorScope() : outer_(current_) { current_ = this; }
  virtual ~ErrorScope() { current_ = outer_; }
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  /// What the parts belong to, "sequential" or "Net": said by the outermost scope.
  virtual std::string whole() const = 0;
  /// The path of the part, where `around` is that of the scope around it.
  virtual std::string path(const std::string& around) const = 0;
  /// The type of the part, "Linear"; only said of the innermost scope.
  virtual std::string type() const = 0;

  /// What stands in front of messages now; nothing outside of all parts.
  static std::string text();

 private:
  const ErrorScope* outer_;
  static inline thread_local const ErrorScope* current_ = nullptr;
};

}  // namespace spruce::internal
