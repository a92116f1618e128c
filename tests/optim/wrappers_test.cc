// SPDX-License-Identifier: Apache-2.0
// What transformations around others do with states, with gradients that are not finite, and with
// what is handed over besides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace wrappers_test {

using List = std::vector<Array>;

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

template <class T>
bool same(const T& a, const T& b) {
  return tree::equal(a, b);
}

TEST(Wrappers, ApplyIfFiniteKeepsTheStateBefore) {
  const Array p = ones({2}), good = array({1.0f, 2.0f}), bad = array({1.0f, NAN});
  const auto optimizer = apply_if_finite(adam({.learning_rate = 0.5}), 2);
  auto state = optimizer.init(p);
  const auto step = jit([&](const Array& g, const auto& s) { return optimizer.update(g, s, p); });
  state = step(good, state).second;
  const auto before = state.inner;
  for (int errors = 1; errors <= 2; ++errors) {
    const auto [updates, next] = step(bad, state);
    EXPECT_TRUE(array_equal(updates, zeros({2})));
    EXPECT_TRUE(same(next.inner, before));
    EXPECT_EQ(next.notfinite_count.item<int>(), errors);
    EXPECT_FALSE(next.last_finite.item<bool>());
    state = next;
  }
  EXPECT_TRUE(isnan(step(bad, state).first)[1].item<bool>()) << "the third in a row is applied";
  const auto after = step(good, state).second;
  EXPECT_EQ(after.notfinite_count.item<int>(), 0);
  EXPECT_EQ(after.total_notfinite.item<int>(), 2);
  EXPECT_EQ(after.inner.count.item<int>(), 2);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(Wrappers, ZeroNans) {
  const Array g = array({1.0f, NAN, INFINITY});
  EXPECT_TRUE(
      array_equal(zero_nans().update(g, EmptyState{}, g).first, array({1.0f, 0.0f, INFINITY})));
}

TEST(Wrappers, MultiStepsLeaveGradientsOut) {
  const Array p = ones({2});
  const auto optimizer = multi_steps(sgd({.learning_rate = 1}), 2, {.skip = skip_not_finite()});
  auto state = optimizer.init(p);
  const auto next = [&](const Array& g) {
    auto [updates, after] = optimizer.update(g, state, p);
    state = after;
    return updates;
  };
  EXPECT_TRUE(array_equal(next(array({1.0f, 2.0f})), zeros({2})));
  EXPECT_TRUE(array_equal(next(array({NAN, 2.0f})), zeros({2})));
  EXPECT_EQ(state.mini_step.item<int>(), 1);
  EXPECT_FALSE(optimizer.has_updated(state).item<bool>());
  EXPECT_TRUE(array_equal(next(array({3.0f, 4.0f})), array({-2.0f, -3.0f})));
  EXPECT_TRUE(optimizer.has_updated(state).item<bool>());
  EXPECT_TRUE(array_equal(state.accumulated, zeros({2})));
}

TEST(Wrappers, MultiStepsAccumulateHalfPrecisionInFloat) {
  const Array p = ones({1}, bfloat16);
  const auto optimizer = multi_steps(sgd({.learning_rate = 1}), 256, {.use_grad_mean = false});
  auto state = optimizer.init(p);
  Array updates;
  const auto step = jit([&](const auto& s) { return optimizer.update(p, s, p); });
  for (int i = 0; i < 256; ++i) std::tie(updates, state) = step(state);
  EXPECT_EQ(state.accumulated.dtype(), float32);
  EXPECT_EQ(astype(updates, float32)[0].item<float>(), -256);  // bf16 alone stops at 256 before
  EXPECT_EQ(updates.dtype(), bfloat16);
}

TEST(Wrappers, MaskedKeepsNoStateForOthers) {
  const Params p = start();
  const auto optimizer = partition(
      [](const std::string& path, const Array&) { return path == "w" ? "rest" : "trained"; },
      std::pair{"trained", adam()}, std::pair{"rest", set_to_zero()});
  const auto state = optimizer.init(p);
  EXPECT_TRUE(std::get<0>(state).inner.mu.a.defined());
  EXPECT_FALSE(std::get<0>(state).inner.mu.w.defined());
  const auto [updates, next] = optimizer.update(p, state, p);
  EXPECT_TRUE(array_equal(updates.w, zeros({2, 3}, float64)));
  EXPECT_FALSE(array_equal(updates.a, zeros({3}, float64)));
  // A state for other leaves is refused.
  const auto other = partition(
      [](const std::string& path, const Array&) { return path == "a" ? "rest" : "trained"; },
      std::pair{"trained", adam()}, std::pair{"rest", set_to_zero()});
  EXPECT_THROW(other.update(p, state, p), TreeError);
}

TEST(Wrappers, PathsOfMasksAreThoseOfTheTree) {
  std::vector<std::string> seen;
  const auto mask = [&](const std::string& path, const Array& leaf) {
    seen.push_back(path + " " + to_string(leaf.aval()));
    return path.ends_with("weight");
  };
  struct Layer {
    Array weight, bias;
  };
  struct Net {
    std::vector<Layer> layers;
    Buffer steps;
    Array count;
  };
  const Net net{{{ones({2, 3}), ones({3})}}, Buffer{ones({})}, array(3)};
  const auto [updates, state] = add_decayed_weights(0.5, mask).update(net, EmptyState{}, net);
  EXPECT_THAT(seen, testing::ElementsAre("layers.0.weight f32[2,3]", "layers.0.bias f32[3]"));
  EXPECT_EQ(updates.layers[0].weight[0][0].item<float>(), 1.5f);
  EXPECT_EQ(updates.layers[0].bias[0].item<float>(), 1);
  EXPECT_EQ(updates.count.item<int>(), 3);
  EXPECT_TRUE(updates.steps.value.defined());
}

TEST(Wrappers, WrongLabelsAndTreesAreNamed) {
  const List two{ones({2}), ones({3})}, one{ones({2})};
  const auto label = [](const std::string& path, const Array&) { return "layer " + path; };
  const auto optimizer = partition(label, std::pair{"layer 0", adam()}, std::pair{"rest", sgd()});
  EXPECT_THAT(message_of([&] { optimizer.init(two); }),
              testing::StartsWith("partition: the label of 1 is \"layer 1\", and there are "
                                  "transformations for \"layer 0\", \"rest\"; give one more"));
  const auto twice = partition(label, std::pair{"a", adam()}, std::pair{"a", sgd()});
  EXPECT_THAT(message_of([&] { twice.init(two); }),
              testing::StartsWith("partition: there are two transformations for \"a\""));
  const auto some = masked(scale(2), [](const std::string&, const Array&) { return true; });
  EXPECT_THROW(some.update(one, some.init(two), two), TreeError);
  EXPECT_THROW(add_decayed_weights(1, is_matrix).update(one, EmptyState{}, two), TreeError);
}

TEST(Wrappers, HyperparamsAreReadAndChangedWithoutARetrace) {
  const Array p = ones({2});
  const auto optimizer = inject_hyperparams(
      [](const Hyperparams& h) {
        return chain(trace(h["momentum"]), scale_by_learning_rate(h["rate"]));
      },
      {{"rate", 0.5}, {"momentum", 0.0}});
  auto state = optimizer.init(p);
  EXPECT_EQ(state.hyperparams.at("rate").item<float>(), 0.5f);
  const auto step = jit([&](const auto& s) { return optimizer.update(p, s, p); });
  Array updates;
  std::tie(updates, state) = step(state);
  EXPECT_TRUE(array_equal(updates, array({-0.5f, -0.5f})));
  state.hyperparams["rate"] = array(2.0f);
  state.hyperparams["momentum"] = array(0.5f);
  std::tie(updates, state) = step(state);
  EXPECT_TRUE(array_equal(updates, array({-3.0f, -3.0f})));
  EXPECT_EQ(step.trace_count(), 1);
  state.hyperparams["rate"] = 0.25f;  // a C++ number too
  EXPECT_TRUE(array_equal(optimizer.update(p, state, p).first, array({-0.4375f, -0.4375f})));
}

TEST(Wrappers, GradGoesThroughHyperparams) {
  const Params p = start();
  const auto optimizer = inject_hyperparams(
      [](const Hyperparams& h) {
        return adamw({.learning_rate = h["rate"], .b1 = h["b1"], .eps = h["eps"]});
      },
      {{"rate", 0.1}, {"b1", 0.5}, {"eps", 0.125}});
  const auto trained = [&](const std::map<std::string, Array>& hyperparams) {
    Params q = p;
    auto state = optimizer.init(p);
    state.hyperparams = hyperparams;
    for (int t = 0; t < 3; ++t) {
      const auto [updates, next] = optimizer.update(gradient(q, array(t, float64)), state, q);
      q = apply_updates(q, updates);
      state = next;
    }
    return loss(q);
  };
  const std::map<std::string, Array> at = optimizer.init(p).hyperparams;
  const auto slope = jit(grad(trained))(at);
  for (const std::string name : {"rate", "b1", "eps"}) {
    const double h = 1e-6;
    auto above = at, below = at;
    above[name] = at.at(name) + h;
    below[name] = at.at(name) - h;
    const double by_steps = (trained(above) - trained(below)).item<double>() / (2 * h);
    EXPECT_NEAR(slope.at(name).item<double>(), by_steps, 1e-6 * std::abs(by_steps)) << name;
  }
}

TEST(Wrappers, WrongHyperparamsAreNamed) {
  const Array p = ones({2});
  const auto misspelt = inject_hyperparams(
      [](const Hyperparams& h) { return sgd({.learning_rate = h["learning_rate"]}); },
      {{"rate", 0.5}});
  EXPECT_THAT(message_of([&] { misspelt.init(p); }),
              testing::StartsWith("inject_hyperparams: no hyperparameter \"learning_rate\" among "
                                  "\"rate\"; give it a value"));
  const auto injected = inject_hyperparams(
      [](const Hyperparams& h) { return sgd({.learning_rate = h["rate"]}); }, {{"rate", 0.5}});
  auto state = injected.init(p);
  state.hyperparams["lr"] = array(99.0f);
  EXPECT_THAT(message_of([&] { injected.update(p, state, p); }),
              testing::StartsWith("inject_hyperparams: the state has a hyperparameter \"lr\", and "
                                  "those of the optimizer are \"rate\""));
  EXPECT_THROW(inject_hyperparams([](const Hyperparams&) { return sgd(); }, {{"rate", NAN}}),
               ValueError);
  EXPECT_THAT(message_of([] { sgd({.learning_rate = ones({2})}); }),
              testing::HasSubstr("a hyperparameter is f32[2], it must be a number or an array of "
                                 "rank 0"));
  EXPECT_THROW(adam({.b1 = Array()}), ValueError);
}

TEST(Wrappers, OpaqueSamIsTransparentSamInOneStep) {
  const auto adversary = chain(normalize_by_update_norm({.eps = 0}), sgd({.learning_rate = 0.05}));
  const auto at = [](const Params& p) { return gradient(p, array(2.0, float64)); };
  const auto clear = sam(adam(), adversary), opaque = sam(adam(), adversary, {.opaque_mode = true});
  Params p = start();
  auto state = clear.init(p);
  for (int i = 0; i < 2; ++i) {
    const auto [updates, next] = clear.update(at(p), state, p);
    p = apply_updates(p, updates);
    state = next;
  }
  const Params q = start();
  const auto [updates, next] = opaque.update(at(q), opaque.init(q), q, at);
  const Params r = apply_updates(q, updates);
  EXPECT_NEAR(max(abs(r.w - p.w)).item<double>(), 0, 1e-15);
  EXPECT_NEAR(max(abs(r.a - p.a)).item<double>(), 0, 1e-15);
  EXPECT_TRUE(same(next.optimizer.mu, state.optimizer.mu));
  EXPECT_THROW(opaque.update(at(q), opaque.init(q), q), ValueError);
  EXPECT_THROW(clear.update(at(q), opaque.init(q), q), TreeError);
}

TEST(Wrappers, EmaOfParameters) {
  const auto average = ema(0.5);
  auto state = average.init(zeros({1}));
  Array mean;
  for (const float value : {1.0f, 2.0f, 4.0f}) {
    std::tie(mean, state) = average.update(array({value}), state, zeros({1}));
  }
  EXPECT_FLOAT_EQ(mean[0].item<float>(), (1 + 2 * 2 + 4 * 4) / 7.0f);
}

TEST(Wrappers, SlowWeightsOfLookaheadAreInTheState) {
  const Array p = zeros({1}), g = ones({1});
  const auto optimizer =
      lookahead(sgd({.learning_rate = 1}), {.sync_period = 2, .slow_step_size = 0.5});
  auto state = optimizer.init(p);
  Array now = p;
  for (int i = 0; i < 2; ++i) {
    const auto [updates, next] = optimizer.update(g, state, now);
    now = now + updates;
    state = next;
  }
  EXPECT_EQ(now[0].item<float>(), -1);  // halfway from 0 to -2
  EXPECT_EQ(state.slow[0].item<float>(), -1);
}

TEST(Wrappers, EvaluationParametersOfScheduleFree) {
  const Array p = array({1.0f});
  const auto optimizer = schedule_free_sgd({.learning_rate = 0.5, .b1 = 0.5});
  const auto [updates, state] = optimizer.update(array({1.0f}), optimizer.init(p), p);
  // The first average is the first z.
  EXPECT_FLOAT_EQ(schedule_free_eval_params(state, p + updates)[0].item<float>(), 0.5f);
}

}  // namespace wrappers_test
}  // namespace spruce::optim
