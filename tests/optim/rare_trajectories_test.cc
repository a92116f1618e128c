// SPDX-License-Identifier: Apache-2.0
// Optimizers that are rarely used along 200 steps, against Optax.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace rare_trajectories_test {

TEST(Trajectories, Optimistic) {
  check("optimistic_gradient_descent",
        optimistic_gradient_descent({.learning_rate = 0.1, .alpha = 0.5, .beta = 0.25}));
  check("optimistic_adam", optimistic_adam({.learning_rate = 0.1, .alpha = 0.5, .beta = 0.25}));
}

TEST(Trajectories, Acprop) {
  check("acprop", acprop({.learning_rate = 0.01, .eps = 0.125}));
  check("acprop_options", acprop({.learning_rate = 0.1,
                                  .b1 = 0.5,
                                  .b2 = 0.75,
                                  .eps = 0.25,
                                  .eps_root = 0.125,
                                  .weight_decay = 0.25,
                                  .mask = is_matrix}));
}

TEST(Trajectories, Dog) {
  check("dog", dog());
  check("dog_distance", dog({.learning_rate = 0.5,
                             .init_type = DogInit::kDistance,
                             .init_step = 0.125,
                             .eps = 0.25,
                             .weight_decay = 0.25,
                             .mask = is_matrix}));
  check("dog_learning_rate", dog({.init_type = DogInit::kLearningRate, .init_step = 0.125}));
  check("dowg", dowg());
  check("dowg_options", dowg({.learning_rate = 0.5,
                              .init_estim_sq_dist = 0.125,
                              .eps = 0.25,
                              .weight_decay = 0.25,
                              .mask = is_matrix}));
}

TEST(Trajectories, Madgrad) {
  check("madgrad", madgrad({.learning_rate = 0.1}));
  check("madgrad_options",
        madgrad({.learning_rate =
                     [](const Array& count) { return 1.0 / (astype(count, float64) + 8.0); },
                 .momentum = 0.5,
                 .weight_decay = 0.25,
                 .eps = 0.125}));
}

TEST(Trajectories, Cocob) {
  check("cocob", cocob());
  check("cocob_options", cocob({.learning_rate = 0.5,
                                .alpha = 4,
                                .eps = 0.125,
                                .weight_decay = 0.25,
                                .mask = is_matrix}));
}

TEST(Trajectories, DadaptAdamW) {
  check("dadapt_adamw", dadapt_adamw());
  check("dadapt_adamw_options", dadapt_adamw({.learning_rate = 0.5,
                                              .b1 = 0.5,
                                              .b2 = 0.75,
                                              .eps = 0.125,
                                              .estim_lr0 = 0.01,
                                              .weight_decay = 0.25}));
}

TEST(Estimates, StayWhileGradientsAreZero) {
  const Array p = ones({2}), zero = zeros({2});
  const auto stays = [&](const auto& optimizer) {
    const auto [updates, state] = optimizer.update(zero, optimizer.init(p), p);
    EXPECT_TRUE(array_equal(updates, zero));
    EXPECT_TRUE(array_equal(state.estim_lr, optimizer.init(p).estim_lr));
  };
  stays(prodigy());
  stays(dadapt_adamw());
}

// For the gradients g and 2 g of two examples.
template <class T>
struct OfTwoExamples {
  T inner;

  template <class P>
  auto init(const P& params) const {
    return inner.init(params);
  }
  template <class G, class S, class P>
  auto update(const G& grads, const S& state, const P& params) const {
    return inner.update(map_trainable(
                            [](const Array& g) {
                              return stack({g, 2.0 * g});
                            },
                            grads),
                        state, params);
  }
};

TEST(Trajectories, Dpsgd) {
  const auto of_two = [](const auto& optimizer) {
    return OfTwoExamples<std::decay_t<decltype(optimizer)>>{optimizer};
  };
  check(
      "dpsgd",
      of_two(dpsgd(
          {.learning_rate = 0.1, .l2_norm_clip = 0.75, .noise_multiplier = 0.125, .key = Key(3)})));
  check("dpsgd_options", of_two(dpsgd({.learning_rate = 0.1,
                                       .l2_norm_clip = 8,
                                       .noise_multiplier = 0.25,
                                       .key = Key(4),
                                       .momentum = 0.5,
                                       .nesterov = true})));
}

TEST(Privacy, ExamplesHaveToAgree) {
  const auto optimizer = dpsgd();
  using List = std::vector<Array>;
  const List params{ones({3}), ones({})}, grads{ones({2, 3}), ones({4})};
  EXPECT_THROW(optimizer.update(grads, optimizer.init(params), params), ShapeError);
  EXPECT_THROW(optimizer.update(params, optimizer.init(params), params), ShapeError);
}

}  // namespace rare_trajectories_test
}  // namespace spruce::optim
