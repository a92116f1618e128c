// SPDX-License-Identifier: Apache-2.0
// Optimizers that are no kin of Adam along 200 steps, against Optax and torch.optim.
#include <gtest/gtest.h>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace other_trajectories_test {

TEST(Trajectories, Sgd) {
  check("sgd", sgd({.learning_rate = 0.1}));
  check("momentum", sgd({.learning_rate = 0.1, .momentum = 0.75}));
  check("nesterov", sgd({.learning_rate = 0.1, .momentum = 0.75, .nesterov = true}));
  check("torch_sgd", sgd({.learning_rate = 0.1, .momentum = 0.75, .dampening = 0.25}));
  check("torch_sgd_decay", sgd({.learning_rate = 0.1, .weight_decay = 0.25}));
  check("torch_sgd_nesterov",
        sgd({.learning_rate = 0.1, .momentum = 0.75, .nesterov = true, .weight_decay = 0.25}));
}

TEST(Trajectories, Rmsprop) {
  check("rmsprop", rmsprop({.learning_rate = 0.1}));
  check("rmsprop_centered", rmsprop({.learning_rate = 0.1, .initial_scale = 1, .centered = true}));
  check("rmsprop_momentum", rmsprop({.learning_rate = 0.1, .decay = 0.75, .momentum = 0.5}));
  check("rmsprop_nesterov", rmsprop({.learning_rate = 0.1,
                                     .decay = 0.75,
                                     .eps = 0.125,
                                     .centered = true,
                                     .momentum = 0.5,
                                     .nesterov = true}));
  check(
      "rmsprop_outside",
      rmsprop({.learning_rate = 0.1, .eps = 0.125, .eps_in_sqrt = false, .bias_correction = true}));
  check("rmsprop_outside_centered", rmsprop({.learning_rate = 0.1,
                                             .eps = 0.125,
                                             .initial_scale = 1,
                                             .centered = true,
                                             .eps_in_sqrt = false}));
  check("torch_rmsprop", rmsprop({.learning_rate = 0.1,
                                  .decay = 0.75,
                                  .eps = 0.125,
                                  .momentum = 0.5,
                                  .eps_in_sqrt = false}));
  check("torch_rmsprop_centered", rmsprop({.learning_rate = 0.1,
                                           .decay = 0.99,
                                           .eps = 0.125,
                                           .centered = true,
                                           .eps_in_sqrt = false}));
}

TEST(Trajectories, Adagrad) {
  check("adagrad", adagrad({.learning_rate = 0.1}));
  check("adagrad_options",
        adagrad({.learning_rate = 0.5, .initial_accumulator_value = 0, .eps = 0.25}));
}

TEST(Trajectories, Adadelta) {
  check("adadelta", adadelta());
  check("adadelta_options", adadelta({.learning_rate = 0.5,
                                      .rho = 0.75,
                                      .eps = 0.125,
                                      .weight_decay = 0.25,
                                      .mask = is_matrix}));
  check("torch_adadelta",
        adadelta({.learning_rate = 0.5, .rho = 0.75, .eps = 0.125, .weight_decay = 0.25}));
}

TEST(Trajectories, Adafactor) {
  check("adafactor", adafactor({.learning_rate = 0.1}));
  check("adafactor_factored", adafactor({.learning_rate = 0.1, .min_dim_size_to_factor = 2}));
  check("adafactor_options", adafactor({.learning_rate = 0.1,
                                        .min_dim_size_to_factor = 2,
                                        .decay_rate = 0.5,
                                        .multiply_by_parameter_scale = false,
                                        .clipping_threshold = 0.5,
                                        .momentum = 0.5,
                                        .weight_decay_rate = 0.25,
                                        .eps = 0.125,
                                        .weight_decay_mask = is_matrix}));
}

TEST(Trajectories, Signs) {
  check("sign_sgd", sign_sgd({.learning_rate = 0.01}));
  check("signum", signum({.learning_rate = 0.01}));
  check("signum_options", signum({.learning_rate = 0.01, .beta = 0.5}));
  check("lion", lion({.learning_rate = 0.01}));
  check(
      "lion_options",
      lion(
          {.learning_rate = 0.01, .b1 = 0.5, .b2 = 0.75, .weight_decay = 0.25, .mask = is_matrix}));
  check("torch_rprop", rprop({.learning_rate = 0.1}));
  check("torch_rprop_options", rprop({.learning_rate = 0.05,
                                      .eta_minus = 0.25,
                                      .eta_plus = 1.5,
                                      .min_step_size = 0.01,
                                      .max_step_size = 0.5}));
}

TEST(Trajectories, TrustRatios) {
  check("lars", lars({.learning_rate = 0.1}));
  check("lars_options", lars({.learning_rate = 0.5,
                              .weight_decay = 0.25,
                              .weight_decay_mask = is_matrix,
                              .trust_coefficient = 0.25,
                              .eps = 0.125,
                              .trust_ratio_mask = is_matrix,
                              .momentum = 0.5,
                              .nesterov = true}));
  check("lamb", lamb({.learning_rate = 0.1}));
  check("lamb_options", lamb({.learning_rate = 0.1,
                              .b1 = 0.5,
                              .b2 = 0.75,
                              .eps = 0.25,
                              .eps_root = 0.125,
                              .weight_decay = 0.25,
                              .mask = is_matrix}));
  check("fromage", fromage({.learning_rate = 0.1}));
  check("fromage_schedule",
        fromage({.learning_rate =
                     [](const Array& count) { return 1.0 / (astype(count, float64) + 4.0); },
                 .min_norm = 0.25}));
}

TEST(Trajectories, Novograd) {
  check("novograd", novograd({.learning_rate = 0.1}));
  check("novograd_options", novograd({.learning_rate = 0.01,
                                      .b1 = 0.5,
                                      .b2 = 0.75,
                                      .eps = 0.25,
                                      .eps_root = 0.125,
                                      .weight_decay = 0.25}));
}

TEST(Trajectories, Polyak) {
  check_with_loss(
      "polyak_sgd",
      polyak_sgd({.max_learning_rate = 0.5, .scaling = 0.25, .f_min = -1, .eps = 0.125}));
  check_with_loss("polyak_sgd_plus", polyak_sgd({.f_min = 4, .only_down = true}));
}

TEST(Trajectories, Prodigy) {
  check("prodigy", prodigy({.learning_rate = 0.5}));
  check("prodigy_options", prodigy({.learning_rate = 0.5,
                                    .b1 = 0.5,
                                    .b2 = 0.75,
                                    .b3 = 0.25,
                                    .eps = 0.125,
                                    .estim_lr0 = 0.01,
                                    .estim_lr_coef = 2,
                                    .weight_decay = 0.25,
                                    .safeguard_warmup = true}));
}

TEST(Trajectories, Muon) {
  check("muon", muon({.learning_rate = 0.1}));
  check("muon_options", muon({.learning_rate = 0.1,
                              .ns_steps = 3,
                              .beta = 0.5,
                              .weight_decay = 0.25,
                              .nesterov = false,
                              .adam_b1 = 0.5,
                              .adam_learning_rate = 0.2,
                              .consistent_rms = 0.25}));
  check("muon_adaptive", muon({.learning_rate = 0.1,
                               .adaptive = true,
                               .preconditioning = MuonPreconditioning::kSchatten}));
  check("muon_aol",
        muon({.learning_rate = 0.05, .beta = 0.75, .preconditioning = MuonPreconditioning::kAol}));
  check("muon_dion", muon({.learning_rate = 0.1,
                           .ns_coeffs = {{4.0848, -6.8946, 2.9270},
                                         {3.9505, -6.3029, 2.6377},
                                         {3.7418, -5.5913, 2.3037},
                                         {2.8769, -3.1427, 1.2046},
                                         {2.8366, -3.0525, 1.2012}}}));
}

TEST(Trajectories, Sophia) {
  const auto objective = [](const Params&) {
    return [](const Params& p) { return sum(cosh(p.a)) + cosh(p.b) + sum(cosh(p.w)); };
  };
  expect_trajectory("sophia", erase(sophia({.learning_rate = 0.05}), objective));
  expect_trajectory("sophia_options", erase(sophia({.learning_rate = 0.05,
                                                    .b1 = 0.5,
                                                    .b2 = 0.75,
                                                    .eps = 0.125,
                                                    .weight_decay = 0.25,
                                                    .mask = is_matrix,
                                                    .gamma = 0.5,
                                                    .clip_threshold = 0.5,
                                                    .update_interval = 3}),
                                            objective));
}

}  // namespace other_trajectories_test
}  // namespace spruce::optim
