// SPDX-License-Identifier: Apache-2.0
// Hyperparam: a number among the options of an optimizer.
#pragma once

#include <string>
#include <type_traits>

#include "spruce/core/array.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ranges.h"

namespace spruce::optim {

/// A number among the options of an optimizer: a C++ number, or an array f[]. An array may be
/// traced: a compiled step takes it as an input, so that it changes without a retrace (see
/// inject_hyperparams), and grad goes through it.
class Hyperparam {
 public:
  /// A number, kept in f64 and used in the dtype of the arrays that it meets.
  template <class N>
  requires std::is_arithmetic_v<N> Hyperparam(N constant)
      : constant_(static_cast<double>(constant)), is_float_(std::is_same_v<N, float>) {}
  /// An array f[], converted to the dtype of the arrays that it meets. Throws ShapeError for any
  /// other shape.
  Hyperparam(Array value, Loc loc = Loc::current());

  /// True for a C++ number, false for an array.
  bool is_constant() const { return !value_.defined(); }
  /// The number; 0 for an array.
  double constant() const { return constant_; }
  /// True for the number 0; false for an array, whatever it holds.
  bool is_zero() const { return is_constant() && constant_ == 0; }
  /// The value as an array of rank 0 of that dtype.
  Array in(Dtype dtype) const;
  /// Throws ValueError "adam: b1 is 1, it must be at least 0 and below 1" for a C++ number out of
  /// the range. Arrays are not looked at.
  void check(const char* op, const char* name, spruce::internal::Range range) const;
  /// "0.9", or the type of an array: "f32[]".
  std::string text() const;

  friend Hyperparam operator+(const Hyperparam& a, const Hyperparam& b) { return a.with('+', b); }
  friend Hyperparam operator-(const Hyperparam& a, const Hyperparam& b) { return a.with('-', b); }
  friend Hyperparam operator*(const Hyperparam& a, const Hyperparam& b) { return a.with('*', b); }
  friend Hyperparam operator/(const Hyperparam& a, const Hyperparam& b) { return a.with('/', b); }
  friend Hyperparam operator-(const Hyperparam& a) { return Hyperparam(0) - a; }
  friend Array operator*(const Hyperparam& h, const Array& x) { return h.meeting(x) * x; }
  friend Array operator*(const Array& x, const Hyperparam& h) { return x * h.meeting(x); }
  friend Array operator+(const Array& x, const Hyperparam& h) { return x + h.meeting(x); }
  friend Array operator/(const Array& x, const Hyperparam& h) { return x / h.meeting(x); }

 private:
  Hyperparam with(char operation, const Hyperparam& other) const;
  // A weak number, or the array in the dtype of `x`.
  Array meeting(const Array& x) const;

  double constant_ = 0;
  bool is_float_ = false;  // given as float: errors print it as one
  Array value_;
};

}  // namespace spruce::optim
