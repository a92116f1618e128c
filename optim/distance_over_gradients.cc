// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/distance_over_gradients.h"

namespace spruce::optim {

using spruce::internal::Range;

Array ScaleByDistanceOverGradients::first_distance(const Array& p) const {
  return reps_rel * (1 + internal::safe_norm(p, 0));
}

void ScaleByDistanceOverGradients::check(const char* part, const Array& of, const Array& in_state) {
  internal::check_shape("scale_by_distance_over_gradients", part, of, in_state, {});
}

ScaleByDistanceOverGradients scale_by_distance_over_gradients(ScaleByDistanceOverGradients o,
                                                              Loc loc) {
  const LocScope at(loc);
  const char* name = "scale_by_distance_over_gradients";
  o.reps_rel.check(name, "reps_rel", Range::kNotNegative);
  o.eps.check(name, "eps", Range::kNotNegative);
  o.global_scale.check(name, "global_scale", Range::kNotNegative);
  return o;
}

}  // namespace spruce::optim
