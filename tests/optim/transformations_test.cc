// SPDX-License-Identifier: Apache-2.0
// Parts of chains and functions of gradients along 200 steps, against Optax and torch.optim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/core/message.h"
#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace transformations_test {

TEST(Trajectories, ScaledByParameters) {
  check("distance_over_gradients", chain(scale_by_distance_over_gradients(), scale(-1)));
  check(
      "distance_over_gradients_options",
      chain(scale_by_distance_over_gradients({.reps_rel = 0.125, .eps = 0.25, .global_scale = 0.5}),
            scale(-1)));
  check("param_block_norm", chain(scale_by_param_block_norm(0.25), scale(-0.01)));
}

TEST(Trajectories, NamesOfOptaxForOptions) {
  check("stddev", chain(scale_by_rms({.initial_scale = 1, .centered = true}), scale(-0.1)));
  check("stddev_options", chain(scale_by_rms({.decay = 0.75,
                                              .eps = 0.125,
                                              .initial_scale = 1,
                                              .eps_in_sqrt = false,
                                              .bias_correction = true,
                                              .centered = true}),
                                scale(-0.1)));
  check("contrib_normalize",
        chain(normalize_by_update_norm({.eps = 0}), sgd({.learning_rate = 0.1})));
}

TEST(Trajectories, Conditions) {
  const auto condition = [](const Array& step) { return remainder(step, 3) != 1; };
  check("conditionally_transform",
        chain(conditionally_transform(trace(0.5), condition), scale(-0.1)));
  check("conditionally_mask", conditionally_mask(adam({.learning_rate = 0.1}), condition));
}

TEST(Conditions, SeeWhatIsHandedOver) {
  const Array p = ones({2});
  const auto optimizer = conditionally_mask(
      sgd({.learning_rate = 1}), [](const Array&, const Array& loss) { return loss < 10; });
  const auto state = optimizer.init(p);
  EXPECT_TRUE(array_equal(optimizer.update(p, state, p, array(3.0f)).first, -p));
  const auto [updates, next] = optimizer.update(p, state, p, array(30.0f));
  EXPECT_TRUE(array_equal(updates, zeros({2})));
  EXPECT_EQ(next.step.item<int>(), 1);
}

TEST(Trajectories, Restricted) {
  check("keep_params_nonnegative", chain(sgd({.learning_rate = 0.5}), keep_params_nonnegative()));
  check("selective_transform", selective_transform(adam({.learning_rate = 0.1}), is_matrix));
  check("flatten", flatten(chain(clip_by_block_rms(0.5), adam({.learning_rate = 0.1}))));
}

TEST(Flatten, PassesOnWhatIsHandedOver) {
  const Params p = start();
  const auto optimizer = flatten(chain(sgd({.learning_rate = 0.1}), reduce_on_plateau()));
  const auto plain = sgd({.learning_rate = 0.1});
  EXPECT_TRUE(tree::equal(optimizer.update(p, optimizer.init(p), p, loss(p)).first,
                          plain.update(p, plain.init(p), p).first));
}

// A stateless f(gradients, parameters) in front of gradient descent.
template <class F>
auto descent(double rate, F f) {
  return chain(stateless(std::move(f)), sgd({.learning_rate = rate}));
}

// For the gradients g and 2 g of two examples.
Params of_two(const Params& grads) {
  return map_trainable([](const Array& g) { return stack({g, 2.0 * g}); }, grads);
}

TEST(Trajectories, ClippedExamples) {
  check("per_example_global_norm_clip", descent(0.05, [](const Params& g, const Params&) {
          return per_example_global_norm_clip(of_two(g), 3).sums;
        }));
  check("per_example_layer_norm_clip", descent(0.05, [](const Params& g, const Params&) {
          return per_example_layer_norm_clip(of_two(g), 3).sums;
        }));
  check("per_example_layer_norm_clip_sizes", descent(0.05, [](const Params& g, const Params&) {
          return per_example_layer_norm_clip(of_two(g), 3, false).sums;
        }));
  check("unitwise_clip", descent(0.1, [](const Params& g, const Params& p) {
          return map_trainable(
              [](const Array& g, const Array& p) {
                return unitwise_clip(unitwise_norm(g), 0.5 * unitwise_norm(p), g);
              },
              g, p);
        }));
}

TEST(ClippedExamples, AreCounted) {
  const std::vector<Array> grads{array({{3.0f, 0.0f}, {0.3f, 0.0f}, {0.0f, 0.0f}}),
                                 array({4.0f, 0.4f, 2.0f})};
  const auto all = per_example_global_norm_clip(grads, 1);
  EXPECT_EQ(all.num_clipped.item<int>(), 2);
  EXPECT_TRUE(allclose(all.sums[0], array({0.9f, 0.0f})));
  EXPECT_NEAR(all.sums[1].item<float>(), 0.8 + 0.4 + 1, 1e-6);
  const auto each = per_example_layer_norm_clip(grads, 1);
  EXPECT_EQ(each.num_clipped[0].item<int>(), 1);
  EXPECT_EQ(each.num_clipped[1].item<int>(), 2);
  EXPECT_NEAR(each.sums[1].item<float>(), 2 * std::sqrt(0.5) + 0.4, 1e-6);
  EXPECT_THROW(per_example_global_norm_clip(grads, 0), ValueError);
  EXPECT_THROW(per_example_layer_norm_clip(std::vector<Array>{ones({2}), ones({3})}, 1),
               ShapeError);
  EXPECT_THROW(unitwise_clip(ones({2}), ones({2}), ones({3})), ShapeError);
}

TEST(ClippedExamples, OfAnEmptyBatchAreZeros) {
  const std::vector<Array> grads{zeros({0, 2, 3}), zeros({0})};
  const auto all = per_example_global_norm_clip(grads, 1);
  EXPECT_TRUE(tree::equal(all.sums, std::vector<Array>{zeros({2, 3}), array(0.0f)}));
  EXPECT_EQ(all.num_clipped.item<int>(), 0);
  for (const bool uniform : {true, false}) {
    const auto each = per_example_layer_norm_clip(grads, 1, uniform);
    EXPECT_TRUE(tree::equal(each.sums, all.sums));
    EXPECT_EQ(each.num_clipped[0].item<int>(), 0);
  }
  const auto mean = differentially_private_aggregate();
  try {
    mean.update(grads, mean.init(all.sums), all.sums);
    FAIL() << "a mean over no examples";
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("the batch has no examples"));
  }
  EXPECT_THROW(per_example_global_norm_clip(std::vector<Array>{zeros({0, 2}), ones({3})}, 1),
               ShapeError);
}

TEST(Trajectories, Updates) {
  check("incremental_update", stateless([](const Params& g, const Params& p) {
          return map_trainable([](const Array& a, const Array& b) { return a - b; },
                               incremental_update(g, p, 0.25), p);
        }));
  check("scale_gradient", descent(0.1, [](const Params& g, const Params& p) {
          const auto scaled = [](const Params& q) { return loss(scale_gradient(q, 0.25)); };
          return map_trainable([](const Array& a, const Array& b) { return a + b; }, g,
                               grad(scaled)(p));
        }));
  check("microbatch", descent(0.1, [](const Params& g, const Params&) {
          const auto f = [](const Params& g, const Array& x) {
            return map_trainable([&](const Array& a) { return sum(sin(x)) * a; }, g);
          };
          return microbatch(f, {.size = 2, .argnums = {1}, .accumulation = Accumulation::kMean})(
              g, arange(6, float64) / 4);
        }));
}

TEST(Updates, Periodic) {
  const Params p = start(), q = gradient(p, array(1.0, float64));
  const auto update = jit([&](const Array& steps) { return periodic_update(q, p, steps, 3); });
  EXPECT_TRUE(tree::equal(update(array(0)), q));
  EXPECT_TRUE(tree::equal(update(array(2)), p));
  EXPECT_TRUE(tree::equal(update(array(6)), q));
  EXPECT_THROW(periodic_update(q, p, array(0), 0), ValueError);
  EXPECT_THROW(incremental_update(q, p, 1.5), ValueError);
}

TEST(ScaleGradient, ValuesStayAndHigherDerivativesAreScaled) {
  const Array x = array({1.0, -2.0}, float64);
  const auto f = [](const Array& x) { return sum(scale_gradient(x, -0.5) * x * x); };
  EXPECT_EQ(f(x).item<double>(), sum(x * x * x).item<double>());
  EXPECT_TRUE(allclose(grad(f)(x), 1.5 * x * x));
  EXPECT_TRUE(array_equal(grad([](const Array& x) { return sum(scale_gradient(x, 0)); })(x),
                          zeros({2}, float64)));
  EXPECT_THROW(scale_gradient(x, std::numeric_limits<double>::infinity()), ValueError);
}

TEST(Microbatch, GivesWhatTheWholeBatchGives) {
  const Params p = start();
  const Array x = reshape(arange(12, float64), {6, 2}), y = arange(6, float64);
  const auto losses = [](const Params& p, const Array& x, const Array& y) {
    return square(matmul(x, p.a[slice(2)]) + p.b - y);
  };
  const auto loss = [&](const Params& p, const Array& x, const Array& y) {
    return sum(losses(p, x, y));
  };
  const auto whole = value_and_grad(loss)(p, x, y);
  for (const int size : {1, 2, 6}) {
    const auto parts = jit([&](const Params& p, const Array& x, const Array& y) {
      return microbatch(value_and_grad(loss), {.size = size, .argnums = {1, 2}})(p, x, y);
    })(p, x, y);
    EXPECT_NEAR(parts.first.item<double>(), whole.first.item<double>(), 1e-10);
    EXPECT_TRUE(allclose(parts.second.a, whole.second.a, {.rtol = 1e-12}));
    const Array each = microbatch(
        losses, {.size = size, .argnums = {1, 2}, .accumulation = Accumulation::kConcatenate})(p, x,
                                                                                               y);
    EXPECT_TRUE(allclose(each, losses(p, x, y), {.rtol = 1e-12}));
  }
  // Differentiated through.
  const auto of_parts = [&](const Params& p) {
    return microbatch(loss, {.size = 3, .argnums = {1, 2}})(p, x, y);
  };
  EXPECT_TRUE(allclose(grad(of_parts)(p).a, whole.second.a, {.rtol = 1e-12}));
  EXPECT_THROW(microbatch(loss, {.size = 4, .argnums = {1, 2}})(p, x, y), ShapeError);
  EXPECT_THROW(microbatch(loss, {.size = 2, .argnums = {3}})(p, x, y), ValueError);
  EXPECT_THROW(microbatch(loss, {.size = 0}), ValueError);
}

TEST(Microbatch, UndefinedArraysStayAsTheyAre) {
  struct Part {
    Array w, none;
  };
  const auto f = [](const Array& x) { return Part{x, Array()}; };
  const Array x = arange(4.0f);
  for (const auto& [how, first] :
       {std::pair{Accumulation::kSum, 2.0f}, std::pair{Accumulation::kMean, 1.0f},
        std::pair{Accumulation::kConcatenate, 0.0f}}) {
    const Part part = microbatch(f, {.size = 2, .accumulation = how})(x);
    EXPECT_EQ(part.w[0].item<float>(), first);
    EXPECT_FALSE(part.none.defined());
  }
  const auto number = [](const Array& a) { return sum(a); };
  EXPECT_THAT(message<ShapeError>([&] {
                microbatch(number, {.size = 2, .accumulation = Accumulation::kConcatenate})(x);
              }),
              testing::HasSubstr("microbatch: with kConcatenate the function gives a number"));
}

// Updates times factor(state) of what a monitor or snapshot has measured.
template <class T, class F>
struct OfMeasures {
  T measured;
  F factor;

  template <class P>
  auto init(const P& params) const {
    return measured.init(params);
  }
  template <class G, class S, class P>
  auto update(const G& grads, const S& state, const P& params) const {
    const auto [updates, next] = measured.update(grads, state, params);
    const Hyperparam by(factor(next));
    return std::pair{map_trainable([&](const Array& g) { return by * g; }, updates), next};
  }
};
template <class T, class F>
auto descent_by_measures(T measured, F factor) {
  return chain(OfMeasures<T, F>{std::move(measured), std::move(factor)},
               sgd({.learning_rate = 0.5}));
}

TEST(Trajectories, Measures) {
  const auto norm = [](const auto& g) { return global_norm(g); };
  const auto largest = [](const Params& g) {
    return maximum(maximum(max(abs(g.a)), abs(g.b)), max(abs(g.w)));
  };
  check("snapshot", descent_by_measures(snapshot("norm", norm), [](const auto& state) {
          return 1 / (1 + state.measurement.at("norm"));
        }));
  check("monitor",
        descent_by_measures(
            monitor(std::pair{"norm", measure_with_ema(norm, 0.75)}, std::pair{"largest", largest}),
            [](const auto& state) {
              return state.measurements.at("largest") / (1 + state.measurements.at("norm"));
            }));
  // Within a chain, the state of the monitor is where the monitor is.
  const auto optimizer = chain(monitor(std::pair{"norm", norm}), adam());
  const Params p = start();
  const auto state = optimizer.init(p);
  EXPECT_EQ(std::get<0>(state).measurements.at("norm").template item<double>(), 0);
  const auto next = optimizer.update(p, state, p).second;
  EXPECT_EQ(std::get<0>(next).measurements.at("norm").template item<double>(),
            global_norm(p).item<double>());
}

Array coupled(const Params& p) { return 0.5 * square(sum(sin(p.a)) + sin(p.b) + sum(sin(p.w))); }

TEST(Trajectories, Hutchinson) {
  expect_trajectory("hutchinson", erase(chain(hutchinson_estimator_diag_hessian(), scale(-0.01)),
                                        [](const Params&) {
                                          return [](const Params& p) { return coupled(p); };
                                        }));
}

// Along the steps of a case of its own length, on Rosenbrock's function.
template <class O>
void check_search(const char* name, const O& optimizer) {
  const auto valley = [](const Params& p) {
    const Array x = concatenate({p.a, reshape(p.b, {1}), reshape(p.w, {6})});
    const Array low = x[slice(0, 9)], high = x[slice(1, none)];
    return 0.25 * sum(100.0 * square(high - square(low)) + square(1.0 - low));
  };
  const std::vector<double> want = numbers_of(name);
  ASSERT_EQ(want.size(), 50u);
  Params p = start();
  auto state = optimizer.init(p);
  const auto step = jit([&](const Params& p, const auto& state) {
    const auto [updates, next] = optimizer.update(grad(valley)(p), state, p, valley);
    return std::pair{apply_updates(p, updates), next};
  });
  size_t at = 0;
  for (int t = 1; t <= 15; ++t) {
    std::tie(p, state) = step(p, state);
    if (t != 1 && t != 2 && t % 5 != 0) continue;
    const std::vector<double> got =
        concatenate({p.a, reshape(p.b, {1}), reshape(p.w, {6})}).to_vector<double>();
    for (const double v : got) {
      EXPECT_NEAR(v, want[at], 1e-9 * std::max(0.1, std::abs(want[at]))) << name << " step " << t;
      ++at;
    }
  }
  EXPECT_LT(std::get<1>(state).value.template item<double>(),
            valley(start()).template item<double>());
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(Trajectories, Backtracking) {
  const BacktrackingOptions options{.max_backtracking_steps = 30,
                                    .slope_rtol = 0.125,
                                    .decrease_factor = 0.5,
                                    .increase_factor = 2,
                                    .max_learning_rate = 0.25,
                                    .atol = 0.5,
                                    .rtol = 0.0625};
  check_search("backtracking",
               chain(sgd({.learning_rate = 1}),
                     scale_by_backtracking_linesearch({.max_backtracking_steps = 60})));
  check_search("backtracking_options",
               chain(sgd({.learning_rate = 0.5}), scale_by_backtracking_linesearch(options)));
  const auto search = scale_by_backtracking_linesearch();
  const Array p = ones({2});
  const auto nowhere = [](const Array& x) { return sum(x) + std::nan(""); };
  EXPECT_TRUE(array_equal(search.update(-p, search.init(p), p, nowhere).first, zeros({2})));
  EXPECT_THROW(scale_by_backtracking_linesearch({.max_backtracking_steps = 0}), ValueError);
  EXPECT_THROW(scale_by_backtracking_linesearch({.decrease_factor = 2}), ValueError);
}

TEST(Nnls, AsOptax) {
  const Array a = reshape(sin(1.3 * arange(15, float64)), {5, 3});
  const auto near = [](const Array& x, const std::string& name) {
    const std::vector<double> want = numbers_of(name), got = ravel(x).to_vector<double>();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << name;
  };
  near(nnls(a, cos(0.7 * arange(5, float64)), {.iterations = 300}), "nnls");
  near(nnls(a, reshape(cos(0.7 * arange(10, float64)), {5, 2}), {.iterations = 300}),
       "nnls_columns");
  EXPECT_THROW(nnls(a, ones({4}, float64)), ShapeError);
  EXPECT_THROW(nnls(a, ones({5})), DtypeError);
  EXPECT_THROW(nnls(a, ones({5}, float64), {.iterations = -1}), ValueError);
}

constexpr int kSteps[] = {1, 2, 5, 20, 200};

// What average(state, parameters) gives along gradient descent or another optimizer.
template <class O, class F>
void check_average(const char* name, const O& optimizer, F average) {
  const std::vector<double> want = numbers_of(name);
  ASSERT_EQ(want.size(), 50u);
  Params p = start();
  auto state = optimizer.init(p);
  size_t at = 0;
  for (int t = 0; t < 200; ++t) {
    const auto [updates, next] = optimizer.update(gradient(p, array(t, float64)), state, p);
    p = apply_updates(p, updates);
    state = next;
    const Params mean = average(state, p);
    if (t + 1 != kSteps[at / 10]) continue;
    for (const double v :
         concatenate({mean.a, reshape(mean.b, {1}), reshape(mean.w, {6})}).to_vector<double>()) {
      EXPECT_NEAR(v, want[at], 1e-9 * std::max(0.1, std::abs(want[at]))) << name << " step " << t;
      ++at;
    }
  }
}

TEST(Trajectories, AveragesAsTorch) {
  const AsgdOptions options{
      .learning_rate = 0.5, .lambd = 0.125, .alpha = 0.5, .t0 = 5, .weight_decay = 0.25};
  check("torch_asgd", asgd({.learning_rate = 0.1}));
  check("torch_asgd_options", asgd(options));
  check_average("torch_asgd_average", asgd(options),
                [](const auto& state, const Params&) { return state.average; });
  const auto descent = sgd({.learning_rate = 0.1, .momentum = 0.75, .dampening = 0.25});
  EqualAverageState<Params> mean = equal_average().init(start());
  check_average("torch_average", descent, [&](const auto&, const Params& p) {
    Params now;
    std::tie(now, mean) = equal_average().update(p, mean, p);
    return now;
  });
  std::optional<Params> smooth;
  check_average("torch_average_ema", descent, [&](const auto&, const Params& p) {
    smooth = smooth ? incremental_update(p, *smooth, 0.25) : p;
    return *smooth;
  });
  EXPECT_THROW(asgd({.alpha = -1}), ValueError);
}

}  // namespace transformations_test
}  // namespace spruce::optim
