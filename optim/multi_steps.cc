// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/multi_steps.h"

namespace spruce::optim {

void EveryK::check(const char* op) const {
  if (!f_) internal::check_steps(op, "k", constant_);
}

Array EveryK::operator()(const Array& count) const {
  const LocReset reset;
  return f_ ? astype(f_(count), int32) : array(static_cast<int32_t>(constant_));
}

SkipUpdate skip_not_finite() {
  return [](const std::vector<Array>& grads) { return logical_not(internal::all_finite(grads)); };
}

SkipUpdate skip_large_updates(double max_squared_norm, Loc loc) {
  const LocScope at(loc);
  spruce::internal::check_range("skip_large_updates", "max_squared_norm", max_squared_norm,
                                spruce::internal::Range::kPositive);
  return [max_squared_norm](const std::vector<Array>& grads) {
    const Array norm = internal::total([](const Array& g) { return sum(square(g)); }, grads);
    return logical_not(norm < max_squared_norm);
  };
}

}  // namespace spruce::optim
