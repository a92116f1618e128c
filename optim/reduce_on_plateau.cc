// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/reduce_on_plateau.h"

#include <limits>

namespace spruce::optim {
namespace {

using spruce::internal::Range;

}  // namespace

ReduceOnPlateauState ReduceOnPlateau::start(Dtype dtype) {
  return {ones({}, dtype), full({}, std::numeric_limits<float>::infinity(), dtype),
          zero_count(),    zero_count(),
          zero_count(),    zeros({}, dtype)};
}

ReduceOnPlateauState ReduceOnPlateau::next(const ReduceOnPlateauState& state,
                                           const Array& value) const {
  check_count("reduce_on_plateau", state.count);
  check_count("reduce_on_plateau", state.plateau_count);
  check_count("reduce_on_plateau", state.cooldown_count);
  const Dtype dtype = state.best_value.dtype();
  const Array loss = Hyperparam(value).in(dtype);
  const Array count = next_count(state.count);
  const Array mean = (astype(state.count, dtype) * state.avg_value + loss) / astype(count, dtype);
  const Array full = count >= static_cast<int32_t>(accumulation_size);

  const Array better = mean < (1 - rtol) * state.best_value - atol.in(dtype);
  const Array waited = where(better, 0, next_count(state.plateau_count));
  const Array cooling = state.cooldown_count > 0;
  const Array falls = logical_not(cooling) & (waited >= static_cast<int32_t>(patience));
  const Array reduced =
      maximum(where(falls, factor * state.scale, state.scale), min_scale.in(state.scale.dtype()));
  const auto once_full = [&](const Array& then, const Array& before) {
    return where(full, then, before);
  };
  return {
      .scale = once_full(where(cooling, state.scale, reduced), state.scale),
      .best_value = once_full(where(better, mean, state.best_value), state.best_value),
      .plateau_count = once_full(where(cooling | falls, 0, waited), state.plateau_count),
      .cooldown_count = once_full(
          where(cooling, state.cooldown_count - 1, where(falls, static_cast<int32_t>(cooldown), 0)),
          state.cooldown_count),
      .count = once_full(zero_count(), count),
      .avg_value = once_full(zeros({}, dtype), mean),
  };
}

ReduceOnPlateau reduce_on_plateau(ReduceOnPlateau o, Loc loc) {
  const char* name = "reduce_on_plateau";
  const LocScope at(loc);
  o.factor.check(name, "factor", Range::kDecay);
  if (o.factor.is_zero()) {
    throw ValueError(std::string(name) + ": factor is 0, it must be above 0 and below 1");
  }
  o.rtol.check(name, "rtol", Range::kDecay);
  o.atol.check(name, "atol", Range::kNotNegative);
  o.min_scale.check(name, "min_scale", Range::kNotNegative);
  if (o.rtol.is_zero() && o.atol.is_zero()) {
    throw ValueError(std::string(name) + ": rtol and atol are 0; one of them must be positive");
  }
  internal::check_steps(name, "patience", o.patience);
  internal::check_steps(name, "accumulation_size", o.accumulation_size);
  internal::check_steps(name, "cooldown", o.cooldown, 0);
  return o;
}

}  // namespace spruce::optim
