// SPDX-License-Identifier: Apache-2.0
// What optimizers leave alone and what they refuse; the numbers are in the tests of trajectories.
#include "spruce/optim/optim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "spruce/spruce.h"

namespace spruce::optim {
namespace optim_test {

struct Params {
  Array a, b;
};

Params start() { return {array({1.0, -2.0, 0.5}, float64), array(3.0, float64)}; }

TEST(Schedules, AreNumbersOrLambdas) {
  const Schedule whole = 1, halved = [](const Array&count) { return 0.5f / (count + 1.0f); };
  EXPECT_EQ(whole(array(3)).item<float>(), 1);
  EXPECT_EQ(halved(array(1)).item<float>(), 0.25f);
  EXPECT_TRUE(whole.is_constant());
  EXPECT_FALSE(halved.is_constant());
  EXPECT_THROW(linear_schedule(1, 0, 0), ValueError);
  EXPECT_THROW(cosine_decay(1, -1), ValueError);
  EXPECT_THROW(warmup_cosine_decay(0, 1, 10, 10), ValueError);
  EXPECT_THROW(warmup_cosine_decay(0, 1, -1, 10), ValueError);
  const Schedule cold = warmup_cosine_decay(0, 1, 0, 10, 0.5f);
  EXPECT_EQ(cold(array(0)).item<float>(), 1);
  EXPECT_NEAR(cold(array(5)).item<float>(), 0.75f, 1e-6);
  EXPECT_THROW(piecewise_constant(1, {5}, {}), ValueError);
}

// All that is no floating parameter stays as it is, and the state keeps its form.
struct Mixed {
  Array w, count;
  Buffer running;
  Key key;
  std::vector<Array> rest;
};

Mixed mixed() { return {ones({2}), array({3, 4}), {ones({2})}, Key(5), {array(2.0f)}}; }

template <class O>
void check_mixed(const O& optimizer) {
  const Mixed m = mixed();
  const auto loss = [](const Mixed& m) { return sum(m.w * m.w * m.running.value) + m.rest[0]; };
  auto state = optimizer.init(m);
  Mixed next = m;
  const auto step = jit([&](const Mixed& m, const auto& state) {
    const auto [updates, after] = optimizer.update(grad(loss)(m), state, m);
    return std::pair{apply_updates(m, updates), after};
  });
  for (int i = 0; i < 3; ++i) std::tie(next, state) = step(next, state);
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_FALSE(array_equal(next.w, m.w));
  EXPECT_FALSE(array_equal(next.rest[0], m.rest[0]));
  EXPECT_TRUE(array_equal(next.count, m.count));
  EXPECT_TRUE(array_equal(next.running, m.running));
  EXPECT_TRUE(array_equal(next.key.data(), m.key.data()));
}

TEST(Optimizers, LeaveIntegersBuffersAndKeysAlone) {
  check_mixed(sgd());
  check_mixed(sgd({.momentum = 0.9f, .nesterov = true}));
  check_mixed(adam());
  check_mixed(adamw());
  check_mixed(rmsprop({.centered = true, .momentum = 0.9f}));
  check_mixed(chain(clip_by_global_norm(1), adam()));
}

TEST(Optimizers, UpdatesTakeTheDtypeOfTheParameter) {
  const Params p{ones({2}, float16), ones({2}, bfloat16)};
  const auto optimizer = adam({.learning_rate = 0.5f});
  const auto [updates, state] = optimizer.update(p, optimizer.init(p), p);
  const Params next = apply_updates(p, updates);
  EXPECT_EQ(next.a.dtype(), float16);
  EXPECT_EQ(next.b.dtype(), bfloat16);
  EXPECT_EQ(state.mu.a.dtype(), float16);
  EXPECT_NEAR(astype(next.a, float32)[0].item<float>(), 0.5f, 2e-3);
}

TEST(Optimizers, GlobalNorm) {
  EXPECT_NEAR(global_norm(Params{array({3.0f, 0.0f}), array(4.0f)}).item<float>(), 5, 1e-6);
  EXPECT_EQ(global_norm(Params{array({3.0}, float64), array(4.0f)}).dtype(), float64);
  EXPECT_EQ(global_norm(mixed()).item<float>(), std::sqrt(6.0f));
  EXPECT_EQ(global_norm(std::vector<Array>{}).item<float>(), 0);
  const Params zero{zeros({2}), zeros({})};
  const auto clipped = clip_by_global_norm(1).update(zero, EmptyState{}, zero).first;
  EXPECT_TRUE(array_equal(clipped.a, zeros({2})));
}

TEST(Optimizers, WrongTreesAreTyped) {
  using List = std::vector<Array>;
  const List two{ones({2}), ones({3})}, one{ones({2})}, other{ones({2}), ones({1})};
  const auto optimizer = adam();
  EXPECT_THROW(apply_updates(two, one), TreeError);
  EXPECT_THROW(apply_updates(two, other), ShapeError);
  EXPECT_THROW(optimizer.update(one, optimizer.init(two), two), TreeError);
  EXPECT_THROW(optimizer.update(two, optimizer.init(one), two), TreeError);
  EXPECT_THROW(adamw().update(two, adamw().init(two), one), TreeError);
  const std::map<std::string, Array> x{{"x", ones({2})}}, y{{"y", ones({2})}};
  try {
    apply_updates(x, y);
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("x"));
  }
  const NamedArrays named{{"x", ones({2})}}, renamed{{"y", ones({2})}};
  EXPECT_THROW(sgd().update(renamed, sgd({.momentum = 0.5f}).init(named), named), TreeError);
  const std::vector<std::optional<Array>> front{ones({2}), std::nullopt};
  const std::vector<std::optional<Array>> back{std::nullopt, ones({2})};
  EXPECT_THROW(apply_updates(front, back), TreeError);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// Also where another leaf is empty too, or is the same array.
TEST(Optimizers, LeavesThatDoNotFitAreNamed) {
  using List = std::vector<Array>;
  const Array w = ones({2});
  EXPECT_THAT(message_of([&] {
                apply_updates(List{w, w}, List{ones({3}), w});
              }),
              ::testing::HasSubstr(" at 0; gradients, parameters and state"));
  const List two{w, ones({3})};
  EXPECT_THAT(message_of([&] {
                adam().update(List{{}, {}}, adam().init(two), two);
              }),
              ::testing::HasSubstr(" meets an empty array at 0;"));
}

TEST(Optimizers, AStateOfOtherOptionsIsRefused) {
  const Params p = start();
  const auto plain = sgd(), heavy = sgd({.momentum = 0.9f});
  EXPECT_THROW(heavy.update(p, plain.init(p), p), TreeError);
  EXPECT_THROW(plain.update(p, heavy.init(p), p), TreeError);
  const auto rms = rmsprop(), centered = rmsprop({.centered = true}),
             moved = rmsprop({.momentum = 0.9f});
  EXPECT_THROW(rms.update(p, centered.init(p), p), TreeError);
  EXPECT_THROW(centered.update(p, rms.init(p), p), TreeError);
  EXPECT_THROW(rms.update(p, moved.init(p), p), TreeError);
  EXPECT_THROW(moved.update(p, rms.init(p), p), TreeError);
  const auto clipped = chain(clip_by_global_norm(1), heavy);
  EXPECT_THROW(clipped.update(p, chain(clip_by_global_norm(1), plain).init(p), p), TreeError);
  // So is one that nobody has made.
  EXPECT_THROW(adam().update(p, AdamState<Params>{}, p), TreeError);
  EXPECT_THROW(plain.update(p, SgdState<Params>{}, p), TreeError);
  EXPECT_THROW(rms.update(p, RmspropState<Params>{}, p), TreeError);
  EXPECT_THROW(scale_by_learning_rate(0.1f).update(p, CountState{}, p), TreeError);
  auto lost = adam().init(p);
  lost.nu.b = Array();
  EXPECT_THROW(adam().update(p, lost, p), TreeError);
}

TEST(Optimizers, AStateKeepsItsDtypes) {
  const Params p{ones({2}, bfloat16), ones({2}, bfloat16)}, g{ones({2}), ones({2})};
  const auto refuses = [&](const char* name, const auto& optimizer) {
    const std::string message = message_of([&] { optimizer.update(g, optimizer.init(p), p); });
    EXPECT_THAT(message, testing::StartsWith(std::string(name) + ": f32[2] meets bf16[2] at a;"));
    EXPECT_THAT(message, testing::HasSubstr("astype"));
    EXPECT_THAT(message, testing::HasSubstr("optim_test.cc"));
  };
  refuses("adam", adam());
  refuses("adamw", adamw());
  refuses("rmsprop", rmsprop());
  refuses("sgd", sgd({.momentum = 0.9f}));
  refuses("trace", chain(trace(0.5f), scale_by_learning_rate(0.1f)));
  refuses("scale_by_adam", chain(clip_by_global_norm(1), scale_by_adam()));
  // Without a state there is nothing to keep.
  EXPECT_EQ(sgd().update(g, sgd().init(p), p).first.a.dtype(), float32);
}

TEST(Optimizers, OptionsOutOfRangeAreRefusedWhereTheOptimizerIsMade) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  for (const float rate : {-0.1f, nan, infinity}) {
    EXPECT_THROW(sgd({.learning_rate = rate}), ValueError);
    EXPECT_THROW(adam({.learning_rate = rate}), ValueError);
    EXPECT_THROW(adamw({.learning_rate = rate}), ValueError);
    EXPECT_THROW(rmsprop({.learning_rate = rate}), ValueError);
    EXPECT_THROW(scale_by_learning_rate(rate), ValueError);
    EXPECT_THROW(constant_schedule(rate), ValueError);
    EXPECT_THROW(linear_schedule(rate, 0, 10), ValueError);
    EXPECT_THROW(linear_schedule(1, rate, 10), ValueError);
    EXPECT_THROW(exponential_decay(rate, 10, 0.5f), ValueError);
    EXPECT_THROW(exponential_decay(1, 10, rate), ValueError);
    EXPECT_THROW(cosine_decay_schedule(rate, 10), ValueError);
    EXPECT_THROW(cosine_decay_schedule(1, 10, rate), ValueError);
    EXPECT_THROW(warmup_cosine_decay_schedule(rate, 1, 5, 10), ValueError);
    EXPECT_THROW(warmup_cosine_decay_schedule(0, rate, 5, 10), ValueError);
    EXPECT_THROW(warmup_cosine_decay_schedule(0, 1, 5, 10, rate), ValueError);
    EXPECT_THROW(piecewise_constant_schedule(rate, {}, {}), ValueError);
    EXPECT_THROW(piecewise_constant_schedule(1, {5}, {rate}), ValueError);
    EXPECT_THROW(adam({.eps = rate}), ValueError);
    EXPECT_THROW(adam({.eps_root = rate}), ValueError);
    EXPECT_THROW(adamw({.weight_decay = rate}), ValueError);
    EXPECT_THROW(add_decayed_weights(rate), ValueError);
    EXPECT_THROW(rmsprop({.eps = rate}), ValueError);
    EXPECT_THROW(rmsprop({.initial_scale = rate}), ValueError);
  }
  for (const float decay : {-0.1f, 1.0f, 2.0f, nan}) {
    EXPECT_THROW(adam({.b1 = decay}), ValueError);
    EXPECT_THROW(adam({.b2 = decay}), ValueError);
    EXPECT_THROW(scale_by_adam({.b1 = decay}), ValueError);
    EXPECT_THROW(rmsprop({.decay = decay}), ValueError);
  }
  for (const float share : {-0.1f, 1.5f, nan}) {
    EXPECT_THROW(sgd({.momentum = share}), ValueError);
    EXPECT_THROW(rmsprop({.momentum = share}), ValueError);
    EXPECT_THROW(trace(share), ValueError);
  }
  for (const float norm : {-1.0f, 0.0f, nan}) EXPECT_THROW(clip_by_global_norm(norm), ValueError);
  EXPECT_THROW(scale(nan), ValueError);
  EXPECT_THROW(piecewise_constant_schedule(1, {-1}, {1}), ValueError);
  EXPECT_THROW(piecewise_constant_schedule(1, {int64_t{1} << 40}, {1}), ValueError);
  EXPECT_THROW(linear_schedule(1, 0, int64_t{1} << 40), ValueError);
  EXPECT_NO_THROW(chain(clip_by_global_norm(infinity), scale(-0.5f)));
  EXPECT_NO_THROW(sgd({.learning_rate = 0, .momentum = 1}));
}

TEST(Schedules, ShorterNamesAreTheSame) {
  for (const int count : {0, 3, 7, 12}) {
    const Array at = array(count);
    EXPECT_TRUE(array_equal(cosine_decay(1, 10, 0.5f)(at), cosine_decay_schedule(1, 10, 0.5f)(at)));
    EXPECT_TRUE(array_equal(warmup_cosine_decay(0, 1, 5, 10)(at),
                            warmup_cosine_decay_schedule(0, 1, 5, 10)(at)));
    EXPECT_TRUE(array_equal(piecewise_constant(1, {5}, {0.5f})(at),
                            piecewise_constant_schedule(1, {5}, {0.5f})(at)));
  }
}

}  // namespace optim_test
}  // namespace spruce::optim
