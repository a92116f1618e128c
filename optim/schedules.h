// SPDX-License-Identifier: Apache-2.0
// Learning rates as functions of the number of updates.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

// Names and orders of arguments are those of Optax, and further down of torch.optim. All rates,
// scales and shares have to be finite and not negative, all counts of updates fit i32: anything
// else is a ValueError at once. A schedule has a finite value at every count: behind its end it
// stays at its last one, but for cycles that go on (cosine_annealing*, cyclic) and exponential
// decay.

/// The same value at every update.
Schedule constant_schedule(float value, Loc loc = Loc::current());
/// From `init` to `end` in a straight line over `steps` updates from update `begin` on, `end` from
/// then on. Throws ValueError for steps < 1 and begin < 0.
Schedule linear_schedule(float init, float end, int64_t steps, int64_t begin = 0,
                         Loc loc = Loc::current());
/// end + (init - end) * (1 - t)^power, where t goes from 0 to 1 over `steps` updates from update
/// `begin` on. Throws ValueError for steps < 1 and begin < 0.
Schedule polynomial_schedule(float init, float end, float power, int64_t steps, int64_t begin = 0,
                             Loc loc = Loc::current());
/// init * rate^((count - begin) / steps) from update `begin` on, `init` before; with `staircase`
/// the exponent is rounded down. No further than `end`, if there is one: not below it for rate < 1,
/// not above it else. Throws ValueError for steps < 1 and begin < 0.
Schedule exponential_decay(float init, int64_t steps, float rate, bool staircase = false,
                           int64_t begin = 0, std::optional<float> end = {},
                           Loc loc = Loc::current());
/// init * ((1 - alpha) * c^exponent + alpha), where c is half a cosine from 1 to 0 over `steps`
/// updates (Loshchilov and Hutter 2017). Throws ValueError for steps < 1.
Schedule cosine_decay_schedule(float init, int64_t steps, float alpha = 0, float exponent = 1,
                               Loc loc = Loc::current());
/// A straight line from `init` to `peak` over `warmup_steps`, `peak` from then on. Throws
/// ValueError for warmup_steps < 1.
Schedule warmup_constant_schedule(float init, float peak, int64_t warmup_steps,
                                  Loc loc = Loc::current());
/// A straight line from `init` to `peak` over `warmup_steps` (which may be 0), then
/// cosine_decay_schedule down to `end` at update `total_steps`. Throws ValueError unless that lies
/// behind the warmup.
Schedule warmup_cosine_decay_schedule(float init, float peak, int64_t warmup_steps,
                                      int64_t total_steps, float end = 0, float exponent = 1,
                                      Loc loc = Loc::current());

/// Options of exponential_decay behind a warmup.
struct WarmupExponentialOptions {
  int64_t begin = 0;              ///< updates at the peak before the decay
  bool staircase = false;         ///< round the exponent down
  std::optional<float> end = {};  ///< where the decay ends
};
/// A straight line from `init` to `peak` over `warmup_steps`, then exponential_decay(peak, steps,
/// rate). Throws ValueError for steps or warmup_steps < 1.
Schedule warmup_exponential_decay_schedule(float init, float peak, int64_t warmup_steps,
                                           int64_t steps, float rate,
                                           const WarmupExponentialOptions& options = {},
                                           Loc loc = Loc::current());
/// `init`, multiplied by scales[i] from update boundaries[i] on. Throws ValueError unless there is
/// one scale for each boundary and no boundary is negative.
Schedule piecewise_constant_schedule(float init, std::vector<int64_t> boundaries,
                                     std::vector<float> scales, Loc loc = Loc::current());

/// The way from one value to the next.
enum class Interpolation : uint8_t {
  kLinear,  ///< a straight line
  kCosine   ///< half a cosine
};
/// `init` at update 0 and the last value times scales[i] at update boundaries[i], interpolated
/// between them; constant behind the last. Throws ValueError unless there is one scale for each
/// boundary and the boundaries are not negative and rise.
Schedule piecewise_interpolate_schedule(Interpolation interpolation, float init,
                                        std::vector<int64_t> boundaries, std::vector<float> scales,
                                        Loc loc = Loc::current());

/// Options of linear_onecycle_schedule and cosine_onecycle_schedule, as in Optax.
struct OnecycleOptions {
  double pct_start = 0.3;        ///< share of the updates in which the rate rises
  double pct_final = 0.85;       ///< share at which the last fall begins; linear_onecycle alone
  float div_factor = 25;         ///< the peak over the first rate
  float final_div_factor = 1e4;  ///< the first rate over the last one
};
/// From peak / div_factor up to `peak`, down to where it began, and on to peak / (div_factor *
/// final_div_factor), in straight lines over `steps` updates (Smith and Topin 2017,
/// https://arxiv.org/abs/1708.07120). Throws ValueError for steps < 1, shares that do not rise
/// within 0..1, and factors that are not positive.
Schedule linear_onecycle_schedule(int64_t steps, float peak, const OnecycleOptions& options = {},
                                  Loc loc = Loc::current());
/// From peak / div_factor up to `peak` and down to peak / (div_factor * final_div_factor), in half
/// cosines over `steps` updates. Throws as linear_onecycle_schedule.
Schedule cosine_onecycle_schedule(int64_t steps, float peak, const OnecycleOptions& options = {},
                                  Loc loc = Loc::current());

/// schedules[0], then schedules[i + 1] from update boundaries[i] on, which counts from 0 there.
/// Throws ValueError unless there is one schedule more than boundaries, and these are not negative
/// and rise.
Schedule join_schedules(std::vector<Schedule> schedules, std::vector<int64_t> boundaries,
                        Loc loc = Loc::current());

/// One cycle of sgdr_schedule: the arguments of warmup_cosine_decay_schedule.
struct SgdrCycle {
  float init = 0;            ///< rate at the start of the cycle
  float peak = 0;            ///< rate behind the warmup
  int64_t warmup_steps = 0;  ///< updates from one to the other
  int64_t total_steps = 0;   ///< updates in the cycle, the warmup among them
  float end = 0;             ///< rate at the end of the cycle
  float exponent = 1;        ///< power of the cosine
};
/// Warmups and cosine decays one after the other (stochastic gradient descent with warm restarts,
/// Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983). Throws ValueError for no cycles,
/// and as warmup_cosine_decay_schedule.
Schedule sgdr_schedule(std::vector<SgdrCycle> cycles, Loc loc = Loc::current());

// Those of torch.optim.lr_scheduler that are not among the ones above. StepLR, ExponentialLR,
// LinearLR, PolynomialLR and SequentialLR are exponential_decay(init, step_size, gamma, true),
// exponential_decay(init, 1, gamma), linear_schedule, polynomial_schedule and join_schedules;
// LambdaLR is a lambda; SWALR is piecewise_interpolate_schedule(kCosine, init, {anneal_epochs},
// {swa_lr / init}), joined to what comes before.

/// init * factor(1) * ... * factor(count) up to count = steps, constant from then on
/// (MultiplicativeLR): factor is a function of the count, i32[] -> f[]. The products are computed
/// at once, here, into a table of steps + 1 numbers. Throws ValueError for steps < 1, ShapeError
/// where factor does not give f[].
Schedule multiplicative_schedule(float init, const std::function<Array(const Array&)>& factor,
                                 int64_t steps, Loc loc = Loc::current());
/// The product of the values of several schedules, of which one is a rate and the others are
/// factors of it (ChainedScheduler): chained_schedule({exponential_decay(0.1f, 1, 0.9f),
/// linear_schedule(0.5f, 1, 4)}). Throws ValueError for none.
Schedule chained_schedule(std::vector<Schedule> schedules, Loc loc = Loc::current());

/// `init`, multiplied by gamma at each of the milestones (MultiStepLR). Throws ValueError for a
/// negative milestone.
Schedule multi_step_schedule(float init, std::vector<int64_t> milestones, float gamma = 0.1f,
                             Loc loc = Loc::current());
/// A cosine from `init` to `end` in `steps` updates, and back to `init` in as many, and so on
/// (CosineAnnealingLR). Throws ValueError for steps < 1.
Schedule cosine_annealing_schedule(float init, int64_t steps, float end = 0,
                                   Loc loc = Loc::current());
/// Half a cosine from `init` to `end` in `steps` updates, then from `init` again, each time with
/// `factor` times as many updates (CosineAnnealingWarmRestarts). Throws ValueError for steps < 1
/// and factor < 1.
Schedule cosine_annealing_warm_restarts_schedule(float init, int64_t steps, int64_t factor = 1,
                                                 float end = 0, Loc loc = Loc::current());

/// How the cycles of cyclic_schedule change.
enum class CyclicMode : uint8_t {
  kTriangular,   ///< all cycles are alike
  kTriangular2,  ///< each cycle is half as high as the last
  kExpRange      ///< the height is multiplied by gamma at each update
};
/// Options of cyclic_schedule.
struct CyclicOptions {
  int64_t steps_up = 2000;                    ///< updates from `base` to `top`
  std::optional<int64_t> steps_down = {};     ///< updates back; none: as many
  CyclicMode mode = CyclicMode::kTriangular;  ///< how the cycles change
  float gamma = 1;                            ///< for kExpRange
};
/// Straight lines from `base` to `top` and back (CyclicLR; Smith 2017,
/// https://arxiv.org/abs/1506.01186). Throws ValueError for numbers of updates < 1.
Schedule cyclic_schedule(float base, float top, const CyclicOptions& options = {},
                         Loc loc = Loc::current());

/// Options of one_cycle_schedule, as in torch.optim.
struct OneCycleOptions {
  double pct_start = 0.3;                         ///< share of the updates in which the rate rises
  Interpolation anneal = Interpolation::kCosine;  ///< the way between the rates
  float div_factor = 25;                          ///< the peak over the first rate
  float final_div_factor = 1e4;                   ///< the first rate over the last one
  bool three_phase = false;  ///< fall to the first rate in as many updates, then to the last
};
/// OneCycleLR: as cosine_onecycle_schedule, with the boundaries of torch.optim. Constant at the
/// last rate behind the end. Throws ValueError for steps < 2, a share outside of 0..1 (0..0.5 for
/// three phases), and factors that are not positive.
Schedule one_cycle_schedule(float peak, int64_t steps, const OneCycleOptions& options = {},
                            Loc loc = Loc::current());

/// cosine_decay_schedule under a shorter name.
Schedule cosine_decay(float init, int64_t steps, float alpha = 0, float exponent = 1,
                      Loc loc = Loc::current());
/// warmup_cosine_decay_schedule under a shorter name.
Schedule warmup_cosine_decay(float init, float peak, int64_t warmup_steps, int64_t total_steps,
                             float end = 0, float exponent = 1, Loc loc = Loc::current());
/// piecewise_constant_schedule under a shorter name.
Schedule piecewise_constant(float init, std::vector<int64_t> boundaries, std::vector<float> scales,
                            Loc loc = Loc::current());

}  // namespace spruce::optim
