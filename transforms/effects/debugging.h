// SPDX-License-Identifier: Apache-2.0
// Looking into functions that run compiled: debug::print and check. docs/debugging.md says what
// becomes of them under each transform.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce {

/// A condition of check() that does not hold.
class CheckError : public Error {
 public:
  using Error::Error;
};

namespace internal {

/// What stands in the place of a {}: an array, or text, which is known while a function is traced.
struct MessageValue {
  template <std::convertible_to<Array> T>
  MessageValue(const T& value) : array(value) {}
  template <std::convertible_to<std::string_view> T>
  MessageValue(const T& value) : text(std::string_view(value)) {}
  MessageValue(const char* value) : text(value == nullptr ? "(null)" : value) {}

  Array array;
  std::optional<std::string> text;
};

void debug_print(const std::string& format, const std::vector<MessageValue>& values);
void check(const Array& condition, const std::string& message,
           const std::vector<MessageValue>& values);

}  // namespace internal

namespace debug {

/// The text of debug::print. It brings along the line of the user's code.
class Format {
 public:
  /// `format` has a {} for each value; {{ and }} are braces. `at` is filled in by the compiler.
  Format(const char* format, Loc at = Loc::current()) : text(format), loc(at) {}
  Format(std::string format, Loc at = Loc::current()) : text(std::move(format)), loc(at) {}

  std::string text;  ///< as it was given
  Loc loc;           ///< the line of the user's code
};

/// Prints a line on stdout when the values are known: at once in eager code, at each call of a
/// compiled function, at each step of a loop. print("loss {} at {}", loss, x) puts the values,
/// which are arrays, C++ numbers or text, in the places of {}, as `<<` prints them.
///
/// Lines keep their order within a program. Under vmap there is one for each example, in order, if
/// a value is mapped, and one in all if none is. Derivatives print the values of their function
/// once, not tangents, and what a backward pass computes again it does not print again. It has no
/// result, and no derivative passes through it. Throws ValueError where the number of values is not
/// that of the places, or the format has a lone brace.
template <std::convertible_to<internal::MessageValue>... T>
void print(const Format& format, const T&... values) {
  const LocScope at(format.loc);
  internal::debug_print(format.text, std::vector<internal::MessageValue>{values...});
}

}  // namespace debug

/// Throws CheckError unless `condition`, bool of any shape, is true in all elements when it is
/// known: at once in eager code, in a compiled function at the call of that function.
///
/// The error is the message with the values, arrays, C++ numbers or text, in the places of {}, and
/// the line of the check: check(all(x > 0), "x must be positive, got {}", x). Under vmap it names
/// the first example that fails. Nothing that a compiled function would do after a check that fails
/// happens; arguments that were moved into it may be gone. Under the transforms it is as
/// debug::print. Throws DtypeError for a condition that is not bool, ValueError for a message whose
/// places are not as many as there are values.
template <std::convertible_to<internal::MessageValue>... T>
void check(const Operand& condition, const std::string& message, const T&... values) {
  const LocScope at(condition.loc);
  internal::check(condition.array, message, std::vector<internal::MessageValue>{values...});
}

}  // namespace spruce
