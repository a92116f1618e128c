// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/transformation.h"

namespace spruce::optim {

using spruce::internal::Range;

Scale scale(Hyperparam factor, Loc loc) {
  const LocScope at(loc);
  factor.check("scale", "factor", Range::kFinite);
  return {std::move(factor)};
}

ScaleBySchedule scale_by_schedule(Schedule factor, Loc loc) {
  const LocScope at(loc);
  factor.check("scale_by_schedule", "factor");
  return {std::move(factor)};
}

ScaleByLearningRate scale_by_learning_rate(Schedule rate, Loc loc) {
  const LocScope at(loc);
  rate.check("scale_by_learning_rate");
  return {std::move(rate)};
}

AddDecayedWeights add_decayed_weights(Hyperparam weight_decay, Mask mask, Loc loc) {
  const LocScope at(loc);
  weight_decay.check("add_decayed_weights", "weight_decay", Range::kNotNegative);
  return {std::move(weight_decay), std::move(mask)};
}

}  // namespace spruce::optim
