// SPDX-License-Identifier: Apache-2.0
// Schedule: a number that may depend on the number of updates.
#pragma once

#include <functional>

#include "spruce/optim/hyperparam.h"

namespace spruce::optim {

/// A learning rate: a number, an array f[], or a function of the number of updates made so far
/// (i32[]), such as a lambda. A function that gives a rate that is negative, infinite or NaN is a
/// ValueError at that update; where the rate is not known, under jit and vmap, it counts as NaN,
/// and so are the updates, which SPRUCE_DEBUG_NANS names.
class Schedule {
 public:
  /// The same rate at every update. Kept in f64 and used in the dtype of the parameters.
  template <class N>
  requires std::is_arithmetic_v<N> Schedule(N constant) : value_(constant) {}
  /// The same rate at every update, as an array f[] that may be traced. Throws ShapeError for any
  /// other shape.
  Schedule(Array value, Loc loc = Loc::current()) : value_(std::move(value), loc) {}
  /// The same rate at every update.
  Schedule(Hyperparam value) : value_(std::move(value)) {}
  /// A function of the number of updates made so far, i32[] -> f32[], of array operations: under
  /// jit it sees a traced number.
  template <class F>
  requires std::is_invocable_r_v<Array, const F&, const Array&> Schedule(F f)
      : value_(0), f_(std::move(f)) {}

  /// True for a number, false for an array or a function.
  bool is_constant() const { return !f_ && value_.is_constant(); }
  /// True for a function.
  bool is_function() const { return f_ != nullptr; }
  /// Throws ValueError, naming the operation and the option, for a number that is negative,
  /// infinite or NaN.
  void check(const char* op, const char* name = "learning_rate") const {
    if (is_constant()) value_.check(op, name, spruce::internal::Range::kNotNegative);
  }
  /// The value at update number `count` (i32[], from 0): f32[] for a number, else what the array or
  /// the function is.
  Array operator()(const Array& count) const;
  /// The same, with a number left as it is. Throws ShapeError where the function gives an array
  /// that is not of rank 0.
  Hyperparam at(const Array& count) const;
  /// The same for a learning rate: a function has to give numbers that are finite and not negative.
  /// Throws ValueError, naming the operation, the update and the number, for any other that is
  /// known; one that is not known is NaN in its place.
  Hyperparam rate(const char* op, const Array& count) const;

 private:
  Hyperparam value_;
  std::function<Array(const Array&)> f_;
};

}  // namespace spruce::optim
