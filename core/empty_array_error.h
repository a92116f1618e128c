// SPDX-License-Identifier: Apache-2.0
// The error about an array that is not there, to which a transform adds where it should have been.
#pragma once

#include <string>

#include "spruce/core/error.h"

namespace spruce::internal {

/// What messages say of a tree whose arrays are all undefined.
inline constexpr const char* kMovedFrom =
    "they have been moved from, as by step(std::move(model)), or were never given values";

/// A ValueError about an undefined Array or Key.
class EmptyArrayError : public ValueError {
 public:
  explicit EmptyArrayError(const std::string& message)
      : ValueError(message), text_(ValueError::what()) {}
  /// `e` with `leaves`, "argument 0 at weight", as the empty ones among the arguments of `op`.
  EmptyArrayError(const EmptyArrayError& e, const std::string& op, const std::string& leaves);

  const char* what() const noexcept override { return text_.c_str(); }
  /// True if the message names leaves.
  bool names_leaves() const { return names_leaves_; }

 private:
  std::string text_;
  bool names_leaves_ = false;
};

/// Throws it: `argument` of `op` is undefined.
[[noreturn]] void throw_undefined(const std::string& op, const std::string& argument);

}  // namespace spruce::internal
