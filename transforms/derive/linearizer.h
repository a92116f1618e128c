// SPDX-License-Identifier: Apache-2.0
// What grad, vjp, jvp and linearize share: marks inputs, runs the user's function, and takes the
// results apart.
#pragma once

#include <memory>

#include "spruce/core/tree/tree.h"
#include "spruce/transforms/derive/dual.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/derive/undifferentiable.h"

namespace spruce::internal {

/// Replaces a leaf of a result by its value.
struct TakePrimal {
  const DualInterpreter& dual;
  void operator()(Array& a, tree::Leaf) const {
    if (a.defined()) a = dual.primal(a);
  }
};

/// One linearization: values now, tangents on a tape.
class Linearizer {
 public:
  explicit Linearizer(const char* name);
  Linearizer(const Linearizer&) = delete;
  Linearizer& operator=(const Linearizer&) = delete;

  /// Replaces a leaf by a value with a tangent. Leaves without derivative (integers, buffers, keys)
  /// stay as they are.
  void mark(Array& leaf, tree::Leaf kind);
  template <class T>
  void mark_tree(T& x) {
    tree::internal::for_each_leaf(x, Mark{*this});
  }
  /// Throws DerivativeError if none of the inputs marked so far, the arguments I..., has a
  /// derivative.
  template <size_t... I, class Args>
  void check_marked(const char* op, const Args& args) const {
    if (slots_ == 0) throw_undifferentiable<I...>(op, args);
  }

  Interpreter& interpreter() { return dual_; }
  /// Replaces the leaves of a result by their values.
  template <class T>
  void strip(T& x) const {
    tree::internal::for_each_leaf(x, TakePrimal{dual_});
  }
  /// Notes a leaf of the result as an output of the tape, and replaces it by its value.
  void finish(Array& leaf);
  template <class T>
  void finish_tree(T& x) {
    tree::internal::for_each_leaf(x, Finish{*this});
  }

  /// Types of the outputs noted by finish().
  const std::vector<Aval>& out_avals() const { return out_avals_; }
  /// One cotangent for each marked leaf, in order; zeros of the leaf's type where there is none.
  /// `cts` match the outputs.
  std::vector<Array> pull_back(std::span<const Array> cts, const char* op) const;
  /// One tangent for each output from one for each marked leaf.
  std::vector<Array> push_forward(std::span<const Array> tangents, const char* op) const;

 private:
  struct Mark {
    Linearizer& to;
    void operator()(Array& a, tree::Leaf kind) const { to.mark(a, kind); }
  };
  struct Finish {
    Linearizer& to;
    void operator()(Array& a, tree::Leaf) const { to.finish(a); }
  };
  struct Input {
    Aval aval;
    int64_t slot;  // number of the tape's input, or -1 for a leaf without a derivative
    bool defined;
  };
  std::unique_ptr<Tape> tape_;
  DualInterpreter dual_;
  std::vector<Input> inputs_;
  int64_t slots_ = 0;
  std::vector<Array> outputs_;  // tangents on the tape; undefined where zero
  std::vector<Aval> out_avals_;
};

/// Throws DerivativeError unless `value` is a floating scalar.
void check_scalar_loss(const char* op, const Array& value);
/// Whether `number`, a weak one, gets the dtype of `value` where the two meet.
bool takes_dtype(const Aval& number, const Aval& value);
/// `t`, a number or the tangent of one, with the type of `value`; others as they are.
Array number_as(const Array& t, const Aval& value);
/// `t` in the dtype of the value that it is the tangent or cotangent of. Throws ShapeError or
/// DtypeError unless it has its type or is a number that gets it.
Array as_tangent(const char* op, const char* what, size_t index, const Aval& value, const Array& t);
/// Ones of the type of `value`.
Array one_of(const Array& value);

}  // namespace spruce::internal
