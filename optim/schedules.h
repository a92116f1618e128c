// SPDX-License-Identifier: Apache-2.0
// Learning rates as functions of the number of updates.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

// Names and orders of arguments are those of Optax. All rates, scales and shares have to be finite
// and not negative, all counts of updates fit i32: anything else is a ValueError at once.

/// The same value at every update.
Schedule constant_schedule(float value, Loc loc = Loc::current());
/// From `init` to `end` in a straight line over `steps` updates, `end` from then on. Throws
/// ValueError for steps < 1.
Schedule linear_schedule(float init, float end, int64_t steps, Loc loc = Loc::current());
/// init * rate^(count / steps); with `staircase` the exponent is rounded down. Throws ValueError
/// for steps < 1.
Schedule exponential_decay(float init, int64_t steps, float rate, bool staircase = false,
                           Loc loc = Loc::current());
/// Half a cosine from `init` to alpha * init over `steps` updates (Loshchilov and Hutter 2017).
/// Throws ValueError for steps < 1.
Schedule cosine_decay_schedule(float init, int64_t steps, float alpha = 0,
                               Loc loc = Loc::current());
/// A straight line from `init` to `peak` over `warmup_steps` (which may be 0), then half a cosine
/// down to `end` at update `total_steps`. Throws ValueError unless that lies behind the warmup.
Schedule warmup_cosine_decay_schedule(float init, float peak, int64_t warmup_steps,
                                      int64_t total_steps, float end = 0, Loc loc = Loc::current());
/// `init`, multiplied by scales[i] from update boundaries[i] on. Throws ValueError unless there is
/// one scale for each boundary and no boundary is negative.
Schedule piecewise_constant_schedule(float init, std::vector<int64_t> boundaries,
                                     std::vector<float> scales, Loc loc = Loc::current());

/// cosine_decay_schedule under a shorter name.
Schedule cosine_decay(float init, int64_t steps, float alpha = 0, Loc loc = Loc::current());
/// warmup_cosine_decay_schedule under a shorter name.
Schedule warmup_cosine_decay(float init, float peak, int64_t warmup_steps, int64_t total_steps,
                             float end = 0, Loc loc = Loc::current());
/// piecewise_constant_schedule under a shorter name.
Schedule piecewise_constant(float init, std::vector<int64_t> boundaries, std::vector<float> scales,
                            Loc loc = Loc::current());

}  // namespace spruce::optim
