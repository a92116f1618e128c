// SPDX-License-Identifier: Apache-2.0
// Chains and wrappers along 200 steps, against Optax.
#include <gtest/gtest.h>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace wrapper_trajectories_test {

Array falling(const Array& count) { return 1.0 / (astype(count, float64) + 2.0); }

std::string group(const std::string& path, const Array&) {
  return path == "w" ? "second" : "first";
}

TEST(Trajectories, Clipping) {
  check("clip_sgd", chain(clip_by_global_norm(0.5), sgd({.learning_rate = 0.1})));
  check("clip_off", chain(clip_by_global_norm(50), sgd({.learning_rate = 0.1})));
  check("clip_value", chain(clip(0.5), sgd({.learning_rate = 0.1, .momentum = 0.5})));
  check("clip_block", chain(clip_by_block_rms(0.5), sgd({.learning_rate = 0.1})));
  check("adaptive_grad_clip", chain(adaptive_grad_clip(0.125), sgd({.learning_rate = 0.1})));
  check("adaptive_grad_clip_axis",
        chain(masked(adaptive_grad_clip({.clipping = 0.25, .eps = 0.5, .axes = -1}), is_matrix),
              sgd({.learning_rate = 0.1})));
  check("normalize", chain(normalize_by_update_norm({.scale_factor = 2, .eps = 0.125}),
                           sgd({.learning_rate = 0.1})));
  check("centralize", chain(centralize(), adam({.learning_rate = 0.1})));
}

TEST(Trajectories, Chains) {
  check("chain", chain(scale_by_adam(), add_decayed_weights(0.5), scale(-0.25)));
  check("trace", chain(trace(0.5, true), scale_by_learning_rate(0.1)));
  check("scale_by_schedule", chain(sgd({.learning_rate = 0.5}), scale_by_schedule(falling)));
  check("ema", chain(ema(0.75), sgd({.learning_rate = 0.1})));
  check("ema_plain", chain(ema(0.75, false), sgd({.learning_rate = 0.1})));
}

TEST(Trajectories, MaskedAndPartition) {
  check("masked", chain(masked(scale_by_adam(), is_matrix), scale(-0.1)));
  check("masked_clip",
        chain(masked(clip_by_global_norm(0.5), is_matrix), sgd({.learning_rate = 0.1})));
  check("partition", partition(group, std::pair{"first", adam({.learning_rate = 0.1})},
                               std::pair{"second", sgd({.learning_rate = 0.1, .momentum = 0.5})}));
  check("partition_freeze", partition(group, std::pair{"first", adamw({.learning_rate = 0.1})},
                                      std::pair{"second", set_to_zero()}));
  check("freeze", chain(adam({.learning_rate = 0.1}), freeze(is_matrix)));
}

TEST(Trajectories, MultiSteps) {
  check("multi_steps", multi_steps(adam({.learning_rate = 0.1}), 4));
  check("multi_steps_sum", multi_steps(sgd({.learning_rate = 0.1, .momentum = 0.5}),
                                       [](const Array& count) { return where(count < 3, 2, 3); },
                                       {.use_grad_mean = false}));
  check("multi_steps_skip",
        multi_steps(adam({.learning_rate = 0.1}), 2, {.skip = skip_large_updates(5.5)}));
  check("accumulated_masked",
        multi_steps(chain(masked(trace(0.5), is_matrix), sgd({.learning_rate = 0.1})), 3));
  check("apply_every", chain(adam({.learning_rate = 0.1}), apply_every(3)));
}

TEST(Trajectories, Noise) {
  check("add_noise", chain(add_noise(0.25, 0.5, Key(7)), sgd({.learning_rate = 0.1})));
  check("noisy_sgd", noisy_sgd({.learning_rate = 0.1, .key = Key(1)}));
}

TEST(Trajectories, ReduceOnPlateau) {
  check_with_loss("reduce_on_plateau",
                  chain(sgd({.learning_rate = 0.5}), reduce_on_plateau({.patience = 3})));
  check_with_loss("reduce_on_plateau_options",
                  chain(adam({.learning_rate = 0.5}), reduce_on_plateau({.factor = 0.5,
                                                                         .patience = 2,
                                                                         .rtol = 0,
                                                                         .atol = 0.01,
                                                                         .cooldown = 3,
                                                                         .accumulation_size = 2,
                                                                         .min_scale = 0.125})));
}

TEST(Trajectories, InjectHyperparams) {
  const auto make = [](const Hyperparams& h) {
    return adamw({.learning_rate = h["rate"], .b1 = h["b1"], .weight_decay = h["decay"]});
  };
  check("inject_hyperparams",
        inject_hyperparams(make, {{"rate", falling}, {"b1", 0.75}, {"decay", 0.25}}));
}

TEST(Trajectories, Lookahead) {
  check("lookahead",
        lookahead(adam({.learning_rate = 0.1}), {.sync_period = 5, .slow_step_size = 0.5}));
  check("lookahead_options",
        lookahead(sgd({.learning_rate = 0.1, .momentum = 0.5}),
                  {.sync_period = 3, .slow_step_size = 0.25, .reset_state = true}));
}

TEST(Trajectories, Sam) {
  check("sam", sam(sgd({.learning_rate = 0.1}),
                   chain(normalize_by_update_norm({.eps = 0}), sgd({.learning_rate = 0.05}))));
  check("sam_options", sam(adam({.learning_rate = 0.1}), adam({.learning_rate = 0.05}),
                           {.sync_period = 3, .reset_state = false}));
}

TEST(Trajectories, ScheduleFree) {
  check("schedule_free", schedule_free(sgd({.learning_rate = 0.1}), {.learning_rate = 0.1}));
  check("schedule_free_options",
        schedule_free(
            adam({.learning_rate = 0.1}),
            {.learning_rate = [](const Array& c) { return 1.0 / (astype(c, float64) + 8.0); },
             .b1 = 0.5,
             .weight_lr_power = 1}));
  check("schedule_free_sgd",
        schedule_free_sgd({.learning_rate = 0.1, .b1 = 0.75, .weight_decay = 0.25}));
  check("schedule_free_adamw", schedule_free_adamw({.learning_rate = 0.1, .weight_decay = 0.25}));
}

}  // namespace wrapper_trajectories_test
}  // namespace spruce::optim
