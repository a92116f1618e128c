// SPDX-License-Identifier: Apache-2.0
// Adam and its kin along 200 steps, against Optax.
#include <gtest/gtest.h>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace adam_family_test {

TEST(Trajectories, Adam) {
  check("adam", adam({.learning_rate = 0.1}));
  check("adam_options",
        adam({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25, .eps_root = 0.125}));
  check("schedule", adam({.learning_rate = [](const Array& count) {
          return 1.0 / (astype(count, float64) + 2.0);
        }}));
}

TEST(Trajectories, AdamW) {
  check("adamw", adamw({.learning_rate = 0.1, .weight_decay = 0.25}));
  check("adamw_mask", adamw({.learning_rate = 0.1, .weight_decay = 0.25, .mask = is_matrix}));
  check("torch_adamw", adamw({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .weight_decay = 0.25}));
  check("torch_adam_l2", chain(add_decayed_weights(0.25), adam({.learning_rate = 0.1})));
}

TEST(Trajectories, Nadam) {
  check("nadam", nadam({.learning_rate = 0.1}));
  check("nadam_options",
        nadam({.learning_rate = 0.01, .b1 = 0.5, .b2 = 0.75, .eps = 0.25, .eps_root = 0.125}));
  check("nadamw", nadamw({.learning_rate = 0.1, .weight_decay = 0.25}));
  check("nadamw_mask",
        nadamw({.learning_rate = 0.1, .b1 = 0.5, .weight_decay = 0.25, .mask = is_matrix}));
}

TEST(Trajectories, Amsgrad) {
  check("amsgrad", amsgrad({.learning_rate = 0.1}));
  check("amsgrad_options",
        amsgrad({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25, .eps_root = 0.125}));
  check("amsgrad_plain", amsgrad({.learning_rate = 0.1,
                                  .b2 = 0.75,
                                  .bias_correction_mu = false,
                                  .bias_correction_nu = false}));
}

TEST(Trajectories, Adamax) {
  check("adamax", adamax({.learning_rate = 0.1}));
  check("adamax_options", adamax({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25}));
  check("torch_adamax", adamax({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25}));
  check("adamaxw", adamaxw({.learning_rate = 0.1, .weight_decay = 0.25}));
  check("adamaxw_mask",
        adamaxw({.learning_rate = 0.1, .b1 = 0.5, .weight_decay = 0.25, .mask = is_matrix}));
}

TEST(Trajectories, Radam) {
  check("radam", radam({.learning_rate = 0.1}));
  check("radam_options", radam({.learning_rate = 0.1,
                                .b1 = 0.5,
                                .b2 = 0.75,
                                .eps = 0.25,
                                .eps_root = 0.125,
                                .threshold = 4.5}));
  check("radam_nesterov", radam({.learning_rate = 0.1, .b2 = 0.9, .nesterov = true}));
}

TEST(Trajectories, Adabelief) {
  check("adabelief", adabelief({.learning_rate = 0.1}));
  check("adabelief_options",
        adabelief({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25, .eps_root = 0.125}));
  check("adabelief_nesterov", adabelief({.learning_rate = 0.1, .eps = 1e-4, .nesterov = true}));
}

TEST(Trajectories, Yogi) {
  check("yogi", yogi({.learning_rate = 0.1}));
  check("yogi_options", yogi({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25}));
}

TEST(Trajectories, Adan) {
  check("adan", adan({.learning_rate = 0.1}));
  check("adan_options", adan({.learning_rate = 0.1,
                              .b1 = 0.5,
                              .b2 = 0.75,
                              .b3 = 0.25,
                              .eps = 0.5,
                              .eps_root = 0.125,
                              .weight_decay = 0.25,
                              .mask = is_matrix}));
}

TEST(Trajectories, Ademamix) {
  check("ademamix", ademamix({.learning_rate = 0.1}));
  check("ademamix_options", ademamix({.learning_rate = 0.01,
                                      .b1 = 0.5,
                                      .b2 = 0.75,
                                      .b3 = 0.625,
                                      .alpha = 2,
                                      .eps = 0.25,
                                      .eps_root = 0.125,
                                      .weight_decay = 0.25,
                                      .mask = is_matrix}));
  check("ademamix_schedules",
        ademamix({.learning_rate = 0.1,
                  .b3 =
                      [](const Array& count) {
                        const Array c = astype(count, float64);
                        return c / (c + 8.0);
                      },
                  .alpha = [](const Array& count) { return astype(count, float64) / 64.0; }}));
}

TEST(Trajectories, Adopt) {
  check("adopt", adopt({.learning_rate = 0.1}));
  check("adopt_options",
        adopt({.learning_rate = 0.1, .b1 = 0.5, .b2 = 0.75, .eps = 0.25, .use_clipping = false}));
  check("adopt_nesterov", adopt({.learning_rate = 0.1, .nesterov = true}));
}

}  // namespace adam_family_test
}  // namespace spruce::optim
