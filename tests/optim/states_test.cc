// SPDX-License-Identifier: Apache-2.0
// States are plain trees: they keep their types, and are saved, mapped over and differentiated
// through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace states_test {

// One type for all tests of many optimizers, each of which is compiled for it once.
struct Weights {
  Array half, single, steps;
  Buffer mean;
  Key key;
  std::vector<Array> layers;
};

Weights weights(std::vector<Array> layers = {}) {
  return {ones({2, 3}, bfloat16), array({1.0f, -2.0f}), array(7), Buffer{ones({2})}, Key(5),
          std::move(layers)};
}

// f(name, optimizer) for optimizers that take gradients alone.
template <class F>
void for_each_optimizer(F&& f) {
  f("sgd", sgd({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1}));
  f("adamw", adamw({.nesterov = true}));
  f("rmsprop", rmsprop({.centered = true, .momentum = 0.9}));
  f("amsgrad", amsgrad());
  f("adamaxw", adamaxw());
  f("radam", radam());
  f("adabelief", adabelief({.eps = 1e-3}));
  f("yogi", yogi());
  f("lion", lion());
  f("adan", adan());
  f("ademamix", ademamix());
  f("adopt", adopt());
  f("adagrad", adagrad());
  f("adadelta", adadelta());
  f("adafactor", adafactor({.min_dim_size_to_factor = 2, .momentum = 0.5}));
  f("rprop", rprop());
  f("signum", signum());
  f("lars", lars());
  f("lamb", lamb());
  f("fromage", fromage());
  f("novograd", novograd());
  f("optimistic_gradient_descent", optimistic_gradient_descent());
  f("prodigy", prodigy({.estim_lr0 = 0.1}));
  f("schedule_free_adamw", schedule_free_adamw());
  f("muon", muon());
  f("sam", sam(adam(), sgd()));
  f("lookahead", lookahead(adam(), {.sync_period = 2, .reset_state = true}));
  f("multi_steps", multi_steps(adam(), 2));
  f("apply_if_finite", apply_if_finite(adam(), 2));
  f("noisy_sgd", noisy_sgd());
  f("asgd", asgd());
  f("distance_over_gradients",
    chain(scale_by_distance_over_gradients({.reps_rel = 0.1}), scale(-1)));
  f("conditionally_transform",
    conditionally_transform(adam(), [](const Array& step) { return step >= 0; }));
  f("conditionally_mask", conditionally_mask(adam(), [](const Array& step) { return step != 1; }));
  f("selective_transform", selective_transform(adam(), [](const std::string& path, const Array&) {
      return path == "half";
    }));
  f("flatten", flatten(adam()));
  f("monitor",
    chain(monitor(std::pair{"norm",
                            measure_with_ema([](const auto& g) { return global_norm(g); }, 0.9)}),
          snapshot("updates", [](const auto& g) { return g; }), adam(), keep_params_nonnegative()));
  f("equal_average", chain(equal_average(), scale(-0.1)));
  f("inject_hyperparams",
    inject_hyperparams([](const Hyperparams& h) { return adam({.learning_rate = h["rate"]}); },
                       {{"rate", 1e-3}}));
  f("chain", chain(clip(1), adaptive_grad_clip(0.1), centralize(), zero_nans(), ema(0.5),
                   masked(trace(0.9), is_matrix), apply_every(2), freeze(is_matrix)));
}

TEST(States, KeepFormAndTypesUnderJit) {
  for_each_optimizer([](const char* name, const auto& optimizer) {
    const Weights start = weights();
    Weights w = start;
    auto state = optimizer.init(w);
    const auto before = tree::entries(state);
    const auto step = jit([&](const Weights& p, const auto& s) {
      const auto [updates, next] = optimizer.update(p, s, p);
      return std::pair{apply_updates(p, updates), next};
    });
    for (int i = 0; i < 3; ++i) std::tie(w, state) = step(w, state);
    const auto after = tree::entries(state);
    ASSERT_EQ(before.size(), after.size()) << name;
    for (size_t i = 0; i < before.size(); ++i) {
      const Array &x = before[i].value, &y = after[i].value;
      ASSERT_EQ(x.defined(), y.defined()) << name << " " << before[i].path;
      if (!x.defined()) continue;
      EXPECT_EQ(x.dtype(), y.dtype()) << name << " " << before[i].path;
      EXPECT_EQ(x.shape(), y.shape()) << name << " " << before[i].path;
    }
    EXPECT_EQ(step.trace_count(), 1) << name;
    EXPECT_EQ(w.half.dtype(), bfloat16) << name;
    EXPECT_FALSE(array_equal(w.single, start.single)) << name;
    EXPECT_TRUE(all(isfinite(w.single)).template item<bool>()) << name;
    EXPECT_TRUE(array_equal(w.steps, start.steps)) << name;
    EXPECT_TRUE(array_equal(w.mean, start.mean)) << name;
    EXPECT_TRUE(array_equal(w.key.data(), start.key.data())) << name;
  });
}

TEST(States, RefuseThoseOfOtherModels) {
  const Weights two = weights({ones({2, 3}), ones({3})}), wide = weights({ones({2, 4}), ones({3})}),
                one = weights({ones({2, 3})});
  for_each_optimizer([&](const std::string& name, const auto& optimizer) {
    if (name == "noisy_sgd" || name == "fromage") return;  // their states have nothing of a model
    EXPECT_THROW(optimizer.update(two, optimizer.init(one), two), Error) << name;
    EXPECT_THROW(optimizer.update(two, optimizer.init(wide), two), Error) << name;
  });
}

TEST(States, AreSavedAndLoaded) {
  const std::string path = std::filesystem::temp_directory_path() / "spruce_optim_state.npz";
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    const Weights w = weights();
    const auto gradient = [&](int t) {
      return map_trainable([&](const Array& a) { return a * (0.5f + static_cast<float>(t)); }, w);
    };
    auto state = optimizer.init(w);
    for (int t = 0; t < 2; ++t) state = optimizer.update(gradient(t), state, w).second;
    io::save_tree(path, state);
    const auto loaded = io::load_tree(path, optimizer.init(w));
    EXPECT_TRUE(tree::structure(loaded) == tree::structure(state)) << name;
    const Weights g = gradient(2);
    const auto a = optimizer.update(g, state, w).first, b = optimizer.update(g, loaded, w).first;
    EXPECT_TRUE(tree::equal(a, b)) << name;
  });
  std::filesystem::remove(path);
}

TEST(States, AreMappedOver) {
  const auto optimizer = chain(clip_by_global_norm(1), lamb({.learning_rate = 0.1}));
  const auto train = [&](const Array& first) {
    Params p = start();
    p.a = p.a * first;
    auto state = optimizer.init(p);
    for (int t = 0; t < 3; ++t) {
      const auto [updates, next] = optimizer.update(gradient(p, array(t, float64)), state, p);
      p = apply_updates(p, updates);
      state = next;
    }
    return std::pair{p, state};
  };
  const Array scales = array({0.5, 2.0}, float64);
  const Params all = vmap(train)(scales).first;
  for (int i = 0; i < 2; ++i) {
    const Params alone = train(scales[i]).first;
    EXPECT_NEAR(max(abs(all.a[i] - alone.a)).item<double>(), 0, 1e-14);
    EXPECT_NEAR(max(abs(all.w[i] - alone.w)).item<double>(), 0, 1e-14);
  }
}

// The loss after five steps, as a function of the first parameters: its slope along a direction
// against central differences.
template <class O>
void expect_derivative(const std::string& name, const O& optimizer) {
  const auto trained = [&](const Params& first) {
    Params p = first;
    auto state = optimizer.init(p);
    for (int t = 0; t < 5; ++t) {
      const auto [updates, next] = optimizer.update(gradient(p, array(t, float64)), state, p);
      p = apply_updates(p, updates);
      state = next;
    }
    return loss(p);
  };
  const Params at = start(), along = gradient(at, array(3.7, float64));
  const auto moved = [&](double h) {
    return trained(
               map_trainable([&](const Array& p, const Array& d) { return p + h * d; }, at, along))
        .template item<double>();
  };
  const Params slope = jit(grad(trained))(at);
  const double got =
      (sum(slope.a * along.a) + slope.b * along.b + sum(slope.w * along.w)).template item<double>();
  const double h = 1e-5, want = (moved(h) - moved(-h)) / (2 * h);
  EXPECT_NEAR(got, want, 1e-6 * std::max(1.0, std::abs(want))) << name;
  EXPECT_TRUE(all(isfinite(slope.w)).template item<bool>()) << name;
}

TEST(States, AreDifferentiatedThrough) {
  expect_derivative("sgd", sgd({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}));
  expect_derivative("adam", adam({.learning_rate = 0.1}));
  expect_derivative("adamw", adamw({.learning_rate = 0.1, .weight_decay = 0.25, .nesterov = true}));
  expect_derivative("rmsprop", rmsprop({.learning_rate = 0.1}));
  expect_derivative("amsgrad", amsgrad({.learning_rate = 0.1, .eps_root = 1e-4}));
  expect_derivative("adagrad", adagrad({.learning_rate = 0.1}));
  expect_derivative("adan", adan({.learning_rate = 0.1}));
  expect_derivative("lamb", lamb({.learning_rate = 0.1}));
  expect_derivative("fromage", fromage({.learning_rate = 0.1}));
  expect_derivative("novograd", novograd({.learning_rate = 0.1}));
  expect_derivative("adafactor", adafactor({.min_dim_size_to_factor = 2}));
  expect_derivative("muon", muon({.learning_rate = 0.1}));
  expect_derivative("radam", radam({.learning_rate = 0.1, .b2 = 0.9}));
  expect_derivative("schedule_free", schedule_free_sgd({.learning_rate = 0.1}));
  expect_derivative("multi_steps", multi_steps(adam({.learning_rate = 0.1}), 2));
  expect_derivative("asgd", asgd({.learning_rate = 0.1, .t0 = 2}));
  expect_derivative("flatten", flatten(adam({.learning_rate = 0.1})));
  expect_derivative("distance_over_gradients",
                    chain(scale_by_distance_over_gradients({.reps_rel = 0.1}), scale(-1)));
  expect_derivative("lookahead", lookahead(adam({.learning_rate = 0.1}), {.sync_period = 2}));
}

TEST(States, OfOtherOptionsAreRefused) {
  const Params p = start();
  const auto with = adafactor({.momentum = 0.5}), without = adafactor();
  EXPECT_THROW(with.update(p, without.init(p), p), TreeError);
  EXPECT_THROW(without.update(p, with.init(p), p), TreeError);
  const auto factored = adafactor({.min_dim_size_to_factor = 2});
  EXPECT_THROW(factored.update(p, without.init(p), p), ShapeError);
  EXPECT_THROW(scale_by_rms({.centered = true}).update(p, scale_by_rms().init(p), p), TreeError);
}

}  // namespace states_test
}  // namespace spruce::optim
