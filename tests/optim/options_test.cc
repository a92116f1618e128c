// SPDX-License-Identifier: Apache-2.0
// Options out of range are refused where the optimizer is made, in its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "spruce/optim/optim.h"

namespace spruce::optim {
namespace options_test {

// Whether f throws ValueError with a message that begins so.
void refuses(const std::string& begin, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected " << begin;
  } catch (const ValueError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith(begin));
  }
}

TEST(Options, BearTheNameOfTheOptimizer) {
  refuses("lion: b1 is 1, it must be at least 0 and below 1", [] { lion({.b1 = 1}); });
  refuses("lion: weight_decay is -0.1", [] { lion({.weight_decay = -0.1f}); });
  refuses("scale_by_lion: b2 is nan", [] { scale_by_lion({.b2 = std::nan("")}); });
  refuses("nadam: learning_rate is -1", [] { nadam({.learning_rate = -1}); });
  refuses("nadamw: b2 is 2", [] { nadamw({.b2 = 2}); });
  refuses("amsgrad: eps is -1", [] { amsgrad({.eps = -1}); });
  refuses("adamax: b1 is -0.5", [] { adamax({.b1 = -0.5}); });
  refuses("adamaxw: weight_decay is -1", [] { adamaxw({.weight_decay = -1}); });
  refuses("radam: threshold is 0", [] { radam({.threshold = 0}); });
  refuses("adabelief: eps_root is -1", [] { adabelief({.eps_root = -1}); });
  refuses("yogi: b2 is 1", [] { yogi({.b2 = 1}); });
  refuses("adan: b3 is 1", [] { adan({.b3 = 1}); });
  refuses("ademamix: alpha is -1", [] { ademamix({.alpha = -1}); });
  refuses("adopt: b2 is 1", [] { adopt({.b2 = 1}); });
  refuses("adagrad: eps is -1", [] { adagrad({.eps = -1}); });
  refuses("adadelta: rho is 1", [] { adadelta({.rho = 1}); });
  refuses("adafactor: clipping_threshold is 0", [] { adafactor({.clipping_threshold = 0}); });
  refuses("adafactor: min_dim_size_to_factor is 0",
          [] { adafactor({.min_dim_size_to_factor = 0}); });
  refuses("rprop: eta_minus is 2", [] { rprop({.eta_minus = 2}); });
  refuses("sign_sgd: learning_rate is -1", [] { sign_sgd({.learning_rate = -1}); });
  refuses("signum: beta is 1", [] { signum({.beta = 1}); });
  refuses("lars: momentum is 2", [] { lars({.momentum = 2}); });
  refuses("lamb: b1 is 1", [] { lamb({.b1 = 1}); });
  refuses("fromage: min_norm is -1", [] { fromage({.min_norm = -1}); });
  refuses("novograd: weight_decay is -1", [] { novograd({.weight_decay = -1}); });
  refuses("polyak_sgd: max_learning_rate is 0", [] { polyak_sgd({.max_learning_rate = 0}); });
  refuses("optimistic_gradient_descent: alpha is inf",
          [] { optimistic_gradient_descent({.alpha = INFINITY}); });
  refuses("prodigy: estim_lr0 is 0", [] { prodigy({.estim_lr0 = 0}); });
  refuses("schedule_free_sgd: b1 is 0", [] { schedule_free_sgd({.b1 = 0}); });
  refuses("muon: ns_steps is 0", [] { muon({.ns_steps = 0}); });
  refuses("muon: 0 coefficients for 5 steps", [] { muon({.ns_coeffs = {}}); });
  refuses("sophia: update_interval is 0", [] { sophia({.update_interval = 0}); });
  refuses("noisy_sgd: eta is -1", [] { noisy_sgd({.eta = -1}); });
  refuses("acprop: b2 is 1", [] { acprop({.b2 = 1}); });
  refuses("dog: init_step is -1", [] { dog({.init_step = -1}); });
  refuses("dowg: eps is -1", [] { dowg({.eps = -1}); });
  refuses("madgrad: momentum is 2", [] { madgrad({.momentum = 2}); });
  refuses("cocob: alpha is 0", [] { cocob({.alpha = 0}); });
  refuses("dadapt_adamw: b1 is 1", [] { dadapt_adamw({.b1 = 1}); });
  refuses("dpsgd: l2_norm_clip is 0", [] { dpsgd({.l2_norm_clip = 0}); });
  refuses("sgd: dampening is 2", [] { sgd({.dampening = 2}); });
}

TEST(Options, OfWrappers) {
  refuses("clip: max_delta is 0", [] { clip(0); });
  refuses("clip_by_block_rms: threshold is -1", [] { clip_by_block_rms(-1); });
  refuses("adaptive_grad_clip: clipping is 0", [] { adaptive_grad_clip(0); });
  refuses("normalize_by_update_norm: scale_factor is 0",
          [] { normalize_by_update_norm({.scale_factor = 0}); });
  refuses("ema: decay is 1", [] { ema(1); });
  refuses("scale_by_schedule: factor is -1", [] { scale_by_schedule(-1); });
  refuses("multi_steps: k is 0", [] { multi_steps(adam(), 0); });
  refuses("skip_large_updates: max_squared_norm is 0", [] { skip_large_updates(0); });
  refuses("apply_if_finite: max_consecutive_errors is -1", [] { apply_if_finite(adam(), -1); });
  refuses("apply_every: k is 0", [] { apply_every(0); });
  refuses("lookahead: sync_period is 0", [] { lookahead(adam(), {.sync_period = 0}); });
  refuses("lookahead: slow_step_size is 2", [] { lookahead(adam(), {.slow_step_size = 2}); });
  refuses("schedule_free: b1 is 2", [] { schedule_free(sgd(), {.b1 = 2}); });
  refuses("sam: sync_period is 0", [] { sam(adam(), sgd(), {.sync_period = 0}); });
  refuses("reduce_on_plateau: factor is 0", [] { reduce_on_plateau({.factor = 0}); });
  refuses("reduce_on_plateau: factor is 1", [] { reduce_on_plateau({.factor = 1}); });
  refuses("reduce_on_plateau: rtol and atol are 0", [] { reduce_on_plateau({.rtol = 0}); });
  refuses("reduce_on_plateau: patience is 0", [] { reduce_on_plateau({.patience = 0}); });
  refuses("inject_hyperparams: rate is nan", [] {
    inject_hyperparams([](const Hyperparams&) { return sgd(); }, {{"rate", NAN}});
  });
}

}  // namespace options_test
}  // namespace spruce::optim
