// SPDX-License-Identifier: Apache-2.0
// The exceptions that Spruce throws, and the place in the user's code that they name.
#pragma once

#include <stdexcept>
#include <string>

#include "spruce/core/cxx20.h"

namespace spruce {

/// Base of all exceptions of this library. The message names the operation, its arguments
/// (`f32[64,784]`), the user's line where it is known, and the next step. Nothing is left
/// half-changed when one is thrown.
class Error : public std::runtime_error {
 public:
  /// `message` begins with "operation: "; the name of the public operation that runs takes its
  /// place, and the line of the user's code, where it is known, is appended.
  explicit Error(const std::string& message);
};

/// Shapes, ranks or axes that do not fit.
class ShapeError : public Error {
 public:
  using Error::Error;
};
/// A dtype that the operation does not take.
class DtypeError : public Error {
 public:
  using Error::Error;
};
/// An index or a slice outside of its axis.
class IndexError : public Error {
 public:
  using Error::Error;
};
/// An argument whose value is not allowed.
class ValueError : public Error {
 public:
  using Error::Error;
};
/// Trees whose structures differ, or a tree that lacks a leaf.
class TreeError : public Error {
 public:
  using Error::Error;
};
/// A traced value where a concrete one is due, or outside of the function that it was traced in.
class TracerError : public Error {
 public:
  using Error::Error;
};
/// A derivative that does not exist: of an integer, of a vector-valued loss, of an operation
/// without a rule.
class DerivativeError : public Error {
 public:
  using Error::Error;
};
/// A graph that is not well formed, or text that is no graph.
class GraphError : public Error {
 public:
  using Error::Error;
};
/// A file that cannot be read or written, or that does not hold what it says.
class IoError : public Error {
 public:
  using Error::Error;
};
/// Arrays on devices that do not fit, or a device that is not there.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A line of the user's code. Public operations take one as a last, defaulted parameter; users
/// never write it.
class Loc {
 public:
  /// The line that calls, by the compiler: as a default argument, the line of the caller.
  static constexpr Loc current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return Loc(Tag{}, file, line);
  }
  /// No known line.
  static constexpr Loc none() { return Loc(Tag{}, nullptr, 0); }

  /// A place that is known as text, "train.cc:42", which has to live as long as the Loc.
  static constexpr Loc text(const char* place) { return Loc(Tag{}, place, kInText); }

  /// The file as the compiler names it, null for no known line; not owned.
  constexpr const char* file() const { return file_; }
  /// The line, from 1; 0 for no known line, -1 where is_text().
  constexpr int line() const { return line_; }
  /// True where file() names the line as well.
  constexpr bool is_text() const { return line_ == kInText; }

 private:
  struct Tag {};
  static constexpr int kInText = -1;
  constexpr Loc(Tag, const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

/// "path/to/train.cc:42", or "" for no known line.
std::string to_string(Loc loc);
/// The same place, good for as long as the program runs.
Loc kept(Loc loc);

/// Makes `loc` the place that errors and graphs name, unless an operation further out has set one
/// already.
class LocScope {
 public:
  /// Sets the place unless there is one; what sets it takes it away at the end.
  explicit LocScope(Loc loc) : outermost_(current_.file() == nullptr) {
    if (outermost_) current_ = loc;
  }
  ~LocScope() {
    if (outermost_) current_ = Loc::none();
  }
  LocScope(const LocScope&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  LocScope& operator=(const LocScope&) = delete;

  /// The place of the outermost operation on this thread, Loc::none() outside of all.
  static Loc current() { return current_; }

 private:
  friend class LocReset;
  static inline thread_local Loc current_ = Loc::none();
  bool outermost_;
};

/// While a user's function runs inside an operation, `loc` is the place of that operation: what
/// errors in the function name where they know no place of their own. Changes nothing where an
/// operation further out has set the current place.
class FunctionScope {
 public:
  /// Keeps the outer place, and brings it back at the end.
  explicit FunctionScope(Loc loc) : saved_(outer_) {
    if (LocScope::current().file() == nullptr) outer_ = loc;
  }
  ~FunctionScope() { outer_ = saved_; }
  FunctionScope(const FunctionScope&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  FunctionScope& operator=(const FunctionScope&) = delete;

  /// The place of the innermost operation that runs a user's function.
  static Loc outer() { return outer_; }

 private:
  friend class LocReset;
  static inline thread_local Loc outer_ = Loc::none();
  Loc saved_;
};

/// Forgets the current place while a user's function runs inside an operation, and brings it back
/// afterwards. Meanwhile it is the function's FunctionScope.
class LocReset {
 public:
  /// Keeps both places of this thread, and brings them back at the end.
  LocReset() : saved_(LocScope::current_), outer_(FunctionScope::outer_) {
    if (saved_.file() != nullptr) FunctionScope::outer_ = saved_;
    LocScope::current_ = Loc::none();
  }
  ~LocReset() {
    LocScope::current_ = saved_;
    FunctionScope::outer_ = outer_;
  }
  LocReset(const LocReset&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  LocReset& operator=(const LocReset&) = delete;

 private:
  Loc saved_, outer_;
};

}  // namespace spruce
