// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedule.h"

#include <limits>

#include "spruce/core/known_values.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::optim {

using spruce::internal::has_known_values, spruce::internal::known_values;

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
  const Array given = (*this)(count);
  (void)Hyperparam(given);  // of rank 0
  const Array value = is_floating(given.dtype()) ? given : astype(given, float32);
  if (has_known_values(value)) {
    const double number = known_values(value).item<double>();
    if (number >= 0 && number < std::numeric_limits<double>::infinity()) return value;
    const std::string at =
        has_known_values(count) ? std::to_string(known_values(count).item<int64_t>()) : "?";
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
