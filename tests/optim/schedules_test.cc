// SPDX-License-Identifier: Apache-2.0
// Schedules, against the numbers of Optax and torch.optim.lr_scheduler.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "spruce/optim/optim.h"
#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::optim {
namespace schedules_test {

struct Case {
  const char *name, *numbers;
};

constexpr Case kCases[] = {
#include "tests/optim/schedule_cases.inc"
};

constexpr int kCounts[] = {0, 1, 4, 5, 6, 9, 10, 15, 16, 19, 20, 25, 29, 30, 40, 60};

std::vector<double> numbers_of(const std::string& name) {
  std::vector<double> out;
  for (const Case& c : kCases) {
    std::istringstream in(name == c.name ? c.numbers : "");
    for (std::string item; std::getline(in, item, ',');) out.push_back(std::stod(item));
  }
  return out;
}

// Values are f32, and so are those of Optax where it counts in i32.
void check(const std::string& name, const Schedule& schedule) {
  const std::vector<double> want = numbers_of(name);
  ASSERT_EQ(want.size(), std::size(kCounts)) << name;
  const auto staged = jit([&](const Array& count) { return schedule(count); });
  for (size_t i = 0; i < want.size(); ++i) {
    const Array eager = schedule(array(kCounts[i]));
    EXPECT_EQ(eager.shape(), Shape{}) << name;
    const double most = std::max(0.01, std::abs(want[i]));
    EXPECT_NEAR(eager.item<float>(), want[i], 1e-6 * most) << name << " at " << kCounts[i];
    EXPECT_NEAR(staged(array(kCounts[i])).item<float>(), want[i], 1e-6 * most)
        << name << " at " << kCounts[i] << " under jit";
  }
  EXPECT_TRUE(isfinite(schedule(array(std::numeric_limits<int32_t>::max()))).item<bool>()) << name;
}

TEST(Schedules, AsOptax) {
  check("constant", constant_schedule(0.25f));
  check("linear", linear_schedule(0.5f, 0.125f, 10));
  check("linear_begin", linear_schedule(0.5f, 0.125f, 10, 5));
  check("polynomial", polynomial_schedule(0.5f, 0.125f, 2, 10));
  check("polynomial_begin", polynomial_schedule(0.25f, 1, 0.5f, 20, 5));
  check("exponential", exponential_decay(0.5f, 10, 0.75f));
  check("staircase", exponential_decay(0.5f, 10, 0.75f, true));
  check("exponential_end", exponential_decay(0.5f, 10, 0.75f, false, 5, 0.3125f));
  check("exponential_rising", exponential_decay(0.5f, 10, 1.5f, true, 5, 0.75f));
  check("cosine", cosine_decay(0.5f, 20));
  check("cosine_alpha", cosine_decay(0.5f, 20, 0.25f));
  check("cosine_exponent", cosine_decay_schedule(0.5f, 20, 0.25f, 2));
  check("warmup", warmup_cosine_decay(0.125f, 1, 5, 25, 0.25f));
  check("warmup_exponent", warmup_cosine_decay_schedule(0.125f, 1, 5, 25, 0.25f, 3));
  check("warmup_constant", warmup_constant_schedule(0.125f, 1, 10));
  check("warmup_exponential", warmup_exponential_decay_schedule(0.125f, 1, 5, 10, 0.5f));
  check("warmup_exponential_options",
        warmup_exponential_decay_schedule(0.125f, 1, 5, 4, 0.5f,
                                          {.begin = 3, .staircase = true, .end = 0.125f}));
  check("piecewise", piecewise_constant(1, {5, 15}, {0.5f, 0.25f}));
}

TEST(Schedules, CyclesAsOptax) {
  check("interpolate_linear",
        piecewise_interpolate_schedule(Interpolation::kLinear, 1, {5, 15}, {2, 0.25f}));
  check("interpolate_cosine",
        piecewise_interpolate_schedule(Interpolation::kCosine, 1, {5, 15}, {2, 0.25f}));
  check("linear_onecycle", linear_onecycle_schedule(40, 1));
  check("linear_onecycle_options",
        linear_onecycle_schedule(
            30, 0.5f,
            {.pct_start = 0.2, .pct_final = 0.7, .div_factor = 10, .final_div_factor = 100}));
  check("cosine_onecycle", cosine_onecycle_schedule(40, 1));
  check("cosine_onecycle_options",
        cosine_onecycle_schedule(30, 0.5f,
                                 {.pct_start = 0.2, .div_factor = 10, .final_div_factor = 100}));
  check("join", join_schedules({0.5f, linear_schedule(0.25f, 1, 10), 0.125f}, {5, 20}));
  check("sgdr",
        sgdr_schedule(
            {{.init = 0.125f, .peak = 1, .warmup_steps = 4, .total_steps = 10, .end = 0.25f},
             {.init = 0.125f,
              .peak = 1,
              .warmup_steps = 4,
              .total_steps = 20,
              .end = 0.25f,
              .exponent = 2}}));
}

TEST(Schedules, AsTorch) {
  check("multi_step", multi_step_schedule(0.5f, {5, 16}, 0.25f));
  check("step", exponential_decay(0.5f, 10, 0.5f, true));
  check("annealing", cosine_annealing_schedule(0.5f, 10, 0.125f));
  check("restarts", cosine_annealing_warm_restarts_schedule(0.5f, 10, 1, 0.125f));
  check("restarts_factor", cosine_annealing_warm_restarts_schedule(0.5f, 5, 2));
  check("cyclic", cyclic_schedule(0.125f, 1, {.steps_up = 5, .steps_down = 10}));
  check("cyclic2", cyclic_schedule(0.125f, 1, {.steps_up = 5, .mode = CyclicMode::kTriangular2}));
  check(
      "cyclic_exp",
      cyclic_schedule(0.125f, 1, {.steps_up = 8, .mode = CyclicMode::kExpRange, .gamma = 0.9375f}));
  check("one_cycle", one_cycle_schedule(1, 61));
  check("one_cycle_linear", one_cycle_schedule(0.5f, 61,
                                               {.pct_start = 0.25,
                                                .anneal = Interpolation::kLinear,
                                                .div_factor = 10,
                                                .final_div_factor = 100}));
  check("one_cycle_three", one_cycle_schedule(1, 61, {.three_phase = true}));
  check("multiplicative",
        multiplicative_schedule(
            0.5f, [](const Array& count) { return 1 - 1 / (astype(count, float64) + 4); }, 60));
  check("chained", chained_schedule({exponential_decay(0.5f, 1, 0.9375f),
                                     piecewise_constant_schedule(0.5f, {5}, {2})}));
  check("swa", piecewise_interpolate_schedule(Interpolation::kCosine, 0.5f, {15}, {0.25f}));
  check("swa_linear", piecewise_interpolate_schedule(Interpolation::kLinear, 0.5f, {15}, {0.25f}));
}

TEST(Schedules, StayAtTheirLastValueBehindTheEnd) {
  const std::pair<Schedule, float> cases[] = {
      {linear_schedule(1, 0.25f, 10), 0.25f},
      {polynomial_schedule(1, 0.25f, 2, 10), 0.25f},
      {cosine_decay_schedule(1, 10, 0.25f), 0.25f},
      {warmup_constant_schedule(0, 1, 5), 1},
      {warmup_cosine_decay_schedule(0, 1, 5, 10, 0.25f), 0.25f},
      {piecewise_constant_schedule(1, {5}, {0.25f}), 0.25f},
      {piecewise_interpolate_schedule(Interpolation::kLinear, 1, {5}, {0.25f}), 0.25f},
      {one_cycle_schedule(1, 10, {.div_factor = 2, .final_div_factor = 2}), 0.25f},
      {sgdr_schedule({{.peak = 1, .total_steps = 10, .end = 0.25f}}), 0.25f},
      {multiplicative_schedule(
           1, [](const Array& c) { return where(c == 1, 0.25f, 1.0f); }, 10),
       0.25f},
  };
  for (const auto& [schedule, last] : cases) {
    for (const int count : {11, 1000, std::numeric_limits<int32_t>::max()})
      EXPECT_NEAR(schedule(array(count)).item<float>(), last, 1e-6f) << count;
  }
}

TEST(Schedules, RatesThatAreNoRatesAreRefused) {
  const Array w = ones({2});
  const auto falling = [](const Array& count) { return 0.25f - 0.125f * astype(count, float32); };
  const auto optimizer = sgd({.learning_rate = falling});
  auto state = optimizer.init(w);
  for (int i = 0; i < 3; ++i) state = optimizer.update(w, state, w).second;  // 0.25, 0.125, 0
  try {
    optimizer.update(w, state, w);
    ADD_FAILURE() << "a rate below 0 was taken";
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()).find("sgd: learning_rate is -0.125 at update 3, it must be "
                                         "finite and not negative"),
              0u)
        << e.what();
  }
  // Compiled, where the rate is not known, the updates are NaN and the state goes on.
  const auto step = jit([&](const auto& state) { return optimizer.update(w, state, w); });
  EXPECT_TRUE(all(isnan(step(state).first)).item<bool>());
  EXPECT_TRUE(array_equal(step(optimizer.init(w)).first, array({-0.25f, -0.25f})));
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -1.0f}) {
    const Schedule schedule([=](const Array&) { return Array(bad); });
    const auto refuses = [&](const auto& optimizer) {
      EXPECT_THROW(optimizer.update(w, optimizer.init(w), w), ValueError) << bad;
    };
    refuses(adam({.learning_rate = schedule}));
    refuses(adafactor({.learning_rate = schedule}));
    refuses(madgrad({.learning_rate = schedule}));
    refuses(prodigy({.learning_rate = schedule}));
    refuses(fromage({.learning_rate = schedule}));
    refuses(schedule_free_sgd({.learning_rate = schedule}));
  }
  // Whole numbers are rates.
  const auto counted = sgd({.learning_rate = [](const Array& count) { return count + 1; }});
  const auto whole = [&](const auto& s) { return counted.update(w, s, w).first; };
  EXPECT_TRUE(array_equal(whole(counted.init(w)), -w));
  EXPECT_TRUE(array_equal(jit(whole)(counted.init(w)), -w));
  // A factor is no rate.
  const auto up = scale_by_schedule([](const Array&) { return Array(-1.0f); });
  EXPECT_TRUE(array_equal(up.update(w, up.init(w), w).first, -w));
}

TEST(Schedules, WrongArgumentsAreRefused) {
  const float nan = std::nanf("");
  EXPECT_THROW(polynomial_schedule(1, 0, 1, 0), ValueError);
  EXPECT_THROW(polynomial_schedule(1, 0, nan, 10), ValueError);
  EXPECT_THROW(linear_schedule(1, 0, 10, -1), ValueError);
  EXPECT_THROW(exponential_decay(1, 10, 0.5f, false, 0, -1.0f), ValueError);
  EXPECT_THROW(cosine_decay(1, 10, 0, nan), ValueError);
  EXPECT_THROW(warmup_constant_schedule(0, 1, 0), ValueError);
  EXPECT_THROW(warmup_exponential_decay_schedule(0, 1, 5, 0, 0.5f), ValueError);
  EXPECT_THROW(join_schedules({}, {}), ValueError);
  EXPECT_THROW(join_schedules({1, 2}, {}), ValueError);
  EXPECT_THROW(join_schedules({1, 2, 3}, {5, 5}), ValueError);
  EXPECT_THROW(sgdr_schedule({}), ValueError);
  EXPECT_THROW(sgdr_schedule({SgdrCycle{}}), ValueError);
  EXPECT_THROW(piecewise_interpolate_schedule(Interpolation::kLinear, 1, {5}, {}), ValueError);
  EXPECT_THROW(piecewise_interpolate_schedule(Interpolation::kLinear, 1, {5, 3}, {1, 1}),
               ValueError);
  EXPECT_THROW(linear_onecycle_schedule(0, 1), ValueError);
  EXPECT_EQ(message<ValueError>([] { linear_onecycle_schedule(1, 1); }),
            "linear_onecycle_schedule: of 1 steps the phases end at updates 0, 0, 1, which do not "
            "rise; give more steps, or other shares");
  EXPECT_THROW(linear_onecycle_schedule(10, 1, {.pct_start = 0.9}), ValueError);
  EXPECT_THROW(cosine_onecycle_schedule(10, 1, {.div_factor = 0}), ValueError);
  EXPECT_THROW(multi_step_schedule(1, {-1}), ValueError);
  EXPECT_THROW(cosine_annealing_schedule(1, 0), ValueError);
  EXPECT_THROW(cosine_annealing_warm_restarts_schedule(1, 10, 0), ValueError);
  EXPECT_THROW(cyclic_schedule(0, 1, {.steps_up = 0}), ValueError);
  EXPECT_THROW(cyclic_schedule(0, 1, {.steps_down = 0}), ValueError);
  EXPECT_THROW(one_cycle_schedule(1, 1), ValueError);
  EXPECT_THROW(chained_schedule({}), ValueError);
  EXPECT_THROW(multiplicative_schedule(
                   1, [](const Array& c) { return c; }, 0),
               ValueError);
  EXPECT_THROW(multiplicative_schedule(
                   1, [](const Array&) { return ones({2}); }, 3),
               ShapeError);
  EXPECT_THROW(one_cycle_schedule(1, 10, {.pct_start = 0.75, .three_phase = true}), ValueError);
}

}  // namespace schedules_test
}  // namespace spruce::optim
