// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adam.h"

namespace spruce::optim {

ScaleByAdam scale_by_adam(ScaleByAdam o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_adam", o.b1, o.b2, o.eps, o.eps_root);
  return o;
}

Adam::Adam(AdamWOptions o, const char* op, Loc loc)
    : moments_{o.b1, o.b2, o.eps, o.eps_root, o.nesterov},
      decay_{o.weight_decay, std::move(o.mask)},
      rate_{std::move(o.learning_rate)},
      op_(op) {
  const LocScope at(loc);
  rate_.learning_rate.check(op);
  internal::check_moments(op, o.b1, o.b2, o.eps, o.eps_root);
  o.weight_decay.check(op, "weight_decay", spruce::internal::Range::kNotNegative);
}

Adam adam(AdamOptions o, Loc loc) {
  return Adam({std::move(o.learning_rate), o.b1, o.b2, o.eps, o.eps_root, 0, {}, o.nesterov},
              "adam", loc);
}

Adam adamw(AdamWOptions options, Loc loc) { return Adam(std::move(options), "adamw", loc); }

Adam nadam(AdamOptions o, Loc loc) {
  return Adam({std::move(o.learning_rate), o.b1, o.b2, o.eps, o.eps_root, 0, {}, true}, "nadam",
              loc);
}

Adam nadamw(AdamWOptions options, Loc loc) {
  options.nesterov = true;
  return Adam(std::move(options), "nadamw", loc);
}

}  // namespace spruce::optim
