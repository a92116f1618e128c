// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedule.h"

#include <limits>

#include "spruce/core/ops/math.h"

namespace spruce::optim {
namespace {

// Whether the number can be read now; it cannot under vmap and jit.
bool is_known(const Array& x) { return x.impl()->concrete() != nullptr && x.aval().device == 0; }

double number_of(const Array& x) {
  using Impl = spruce::internal::ArrayImpl;
  return Array{Ref<Impl>(const_cast<Impl*>(x.impl()->concrete()))}.item<double>();
}

}  // namespace

Array Schedule::operator()(const Array& count) const {
  const LocReset reset;
  if (f_) return f_(count);
  return value_.is_constant() ? Array(static_cast<float>(value_.constant())) : value_.in(float32);
}

Hyperparam Schedule::at(const Array& count) const {
  return f_ ? Hyperparam((*this)(count)) : value_;
}

Hyperparam Schedule::rate(const char* op, const Array& count) const {
  if (!f_) return value_;
  const Array value = (*this)(count);
  const Hyperparam checked(value);  // of rank 0
  if (is_known(value)) {
    const double number = number_of(value);
    if (number >= 0 && number < std::numeric_limits<double>::infinity()) return checked;
    const std::string at = is_known(count) ? std::to_string(count.item<int64_t>()) : "?";
    throw ValueError(std::string(op) + ": learning_rate is " +
                     spruce::internal::number_text(static_cast<float>(number)) + " at update " +
                     at +
                     ", it must be finite and not negative; end the schedule by join_schedules, or "
                     "clip what the function gives");
  }
  const Array fits = (value >= 0) & (value < std::numeric_limits<double>::infinity());
  return where(fits, value, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace spruce::optim
