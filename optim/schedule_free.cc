// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedule_free.h"

namespace spruce::optim {

ScheduleFree<Sgd> schedule_free_sgd(ScheduleFreeSgdOptions o, Loc loc) {
  const OpScope at("schedule_free_sgd", loc);
  return schedule_free(sgd({.learning_rate = o.learning_rate, .weight_decay = o.weight_decay}),
                       {o.learning_rate, o.b1, o.weight_lr_power});
}

ScheduleFree<Chain<ScaleByRms, AddDecayedWeights, ScaleByLearningRate>> schedule_free_adamw(
    ScheduleFreeAdamWOptions o, Loc loc) {
  const OpScope at("schedule_free_adamw", loc);
  return schedule_free(
      chain(scale_by_rms(
                {.decay = o.b2, .eps = o.eps, .eps_in_sqrt = false, .bias_correction = true}),
            add_decayed_weights(o.weight_decay), scale_by_learning_rate(o.learning_rate)),
      {o.learning_rate, o.b1, o.weight_lr_power});
}

}  // namespace spruce::optim
