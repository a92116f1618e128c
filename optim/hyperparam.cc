// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/hyperparam.h"

#include "spruce/core/ops/ops.h"

namespace spruce::optim {

Hyperparam::Hyperparam(Array value, Loc loc) : value_(std::move(value)) {
  const LocScope at(loc);
  if (!value_.defined()) {
    throw ValueError("optim: a hyperparameter is an empty array; give a number or an array f32[]");
  }
  if (value_.rank() != 0) {
    throw ShapeError("optim: a hyperparameter is " + to_string(value_.aval()) +
                     ", it must be a number or an array of rank 0, such as f32[]");
  }
}

Array Hyperparam::in(Dtype dtype) const {
  return is_constant() ? array(constant_, dtype) : astype(value_, dtype);
}

Array Hyperparam::meeting(const Array& x) const {
  return is_constant() ? Array(constant_) : astype(value_, x.dtype());
}

std::string Hyperparam::text() const {
  using spruce::internal::number_text;
  if (!is_constant()) return to_string(value_.aval());
  return is_float_ ? number_text(static_cast<float>(constant_)) : number_text(constant_);
}

void Hyperparam::check(const char* op, const char* name, spruce::internal::Range range) const {
  if (!is_constant()) return;
  if (is_float_)
    spruce::internal::check_range(op, name, static_cast<float>(constant_), range);
  else
    spruce::internal::check_range(op, name, constant_, range);
}

Hyperparam Hyperparam::with(char operation, const Hyperparam& other) const {
  const auto apply = [operation](const auto& a, const auto& b) {
    return operation == '+' ? a + b : operation == '-' ? a - b : operation == '*' ? a * b : a / b;
  };
  if (is_constant() && other.is_constant()) return apply(constant_, other.constant_);
  if (is_constant()) return apply(meeting(other.value_), other.value_);
  return apply(value_, other.meeting(value_));
}

}  // namespace spruce::optim
