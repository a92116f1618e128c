// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/yogi.h"

namespace spruce::optim {

ScaleByYogi scale_by_yogi(ScaleByYogi o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_yogi", o.b1, o.b2, o.eps, o.eps_root);
  o.initial_accumulator_value.check("scale_by_yogi", "initial_accumulator_value",
                                    spruce::internal::Range::kNotNegative);
  return o;
}

Chain<ScaleByYogi, ScaleByLearningRate> yogi(YogiOptions o, Loc loc) {
  const OpScope at("yogi", loc);
  return named_chain("yogi", scale_by_yogi({o.b1, o.b2, o.eps}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
