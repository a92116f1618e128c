// SPDX-License-Identifier: Apache-2.0
// L-BFGS with its line search, and minimize.
#include "spruce/optim/minimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spruce/core/debug.h"
#include "tests/core/message.h"
#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace minimize_test {

using testing::HasSubstr;

// Rosenbrock's function along the ten numbers, a quarter of it.
Array valley(const Params& p) {
  const Array x = concatenate({p.a, p.b.reshape({1}), p.w.reshape({6})});
  const Array next = x[slice(1, none)], at = x[slice(none, -1)];
  return 0.25 * sum(100.0 * square(next - square(at)) + square(1.0 - at));
}

void check_steps_of(const std::string& name, const LbfgsOptions& options) {
  const std::vector<double> want = numbers_of(name);
  constexpr int kSteps[] = {1, 2, 5, 10, 15};
  ASSERT_EQ(want.size(), 50u);
  const Lbfgs optimizer = lbfgs(options);
  const auto step = [&](const Params& p, const LbfgsState& state) {
    const auto [updates, next] = optimizer.update(grad(valley)(p), state, p, valley);
    return std::pair{apply_updates(p, updates), next};
  };
  const auto compiled = jit(step);
  Params p = start();
  LbfgsState state = optimizer.init(p);
  size_t k = 0;
  for (int t = 1; t <= 15; ++t) {
    std::tie(p, state) = compiled(p, state);
    if (t != kSteps[k]) continue;
    const Array x = internal::flat_of(p, float64);
    for (size_t i = 0; i < 10; ++i) {
      const double expected = want[10 * k + i];
      EXPECT_NEAR(x.to_vector<double>()[i], expected, 1e-7 * std::max(1.0, std::abs(expected)))
          << name << " after step " << t << ", number " << i;
    }
    ++k;
  }
  EXPECT_EQ(compiled.trace_count(), 1);
}

TEST(Lbfgs, GoesAsOptax) {
  check_steps_of("lbfgs", {});
  check_steps_of("lbfgs_options", {.memory_size = 3,
                                   .scale_init_precond = false,
                                   .line_search = {.max_steps = 15,
                                                   .max_step_size = 0.75,
                                                   .increase_factor = 1.5,
                                                   .slope_rtol = 0.01,
                                                   .curv_rtol = 0.5,
                                                   .approx_dec_rtol = 1e-3}});
}

TEST(Minimize, FindsTheMinimum) {
  for (const bool compiled : {false, true}) {
    const auto run = [](const Params& p) {
      return minimize(valley, p, {.max_steps = 500, .tolerance = 1e-9});
    };
    const auto found = compiled ? jit(run)(start()) : run(start());
    EXPECT_TRUE(found.converged.item<bool>());
    EXPECT_LE(found.gradient.item<double>(), 1e-9);
    EXPECT_LT(found.steps.item<int32_t>(), 500);
    // One of its two minima: all numbers 1, or the first near -1.
    EXPECT_LE(abs(grad(valley)(found.params).b).item<double>(), 1e-9);
    EXPECT_TRUE(allclose(found.params.w, ones({2, 3}, float64), {.atol = 1e-6}));
    EXPECT_NEAR(found.value.item<double>(), valley(found.params).item<double>(), 1e-12);
  }
}

TEST(Minimize, OfAQuadraticIsTheSolution) {
  const Array m = random::normal(Key(0), {12, 12}, {.dtype = float64});
  const Array a = matmul(m, transpose(m)) + eye(12, {.dtype = float64});
  const Array b = random::normal(Key(1), {12}, {.dtype = float64});
  const auto objective = [&](const Array& x) { return 0.5 * dot(x, matmul(a, x)) - dot(b, x); };
  const auto found = minimize(objective, zeros({12}, float64), {.tolerance = 1e-10});
  EXPECT_TRUE(found.converged.item<bool>());
  EXPECT_TRUE(allclose(matmul(a, found.params), b, {.atol = 1e-9}));
}

TEST(Minimize, UnderVmap) {
  const Array targets = array({{1.0f, 2.0f}, {-3.0f, 0.5f}, {0.0f, 0.0f}});
  const auto solve = [](const Array& target) {
    const auto bowl = [&](const Array& x) {
      const Array d = x - target;
      return sum(square(d)) + sum(square(square(d)));
    };
    return minimize(bowl, ones({2}), {.tolerance = 1e-4}).params;
  };
  EXPECT_TRUE(allclose(vmap(solve)(targets), targets, {.rtol = 1e-3, .atol = 1e-3}));
}

TEST(Minimize, EndsWhereItCannotGoOn) {
  // Nothing to do.
  const auto bowl = [](const Array& x) { return sum(square(x)); };
  const auto done = minimize(bowl, zeros({3}));
  EXPECT_TRUE(done.converged.item<bool>());
  EXPECT_EQ(done.steps.item<int32_t>(), 0);
  // Out of steps.
  const auto early = minimize(valley, start(), {.max_steps = 2});
  EXPECT_FALSE(early.converged.item<bool>());
  EXPECT_EQ(early.steps.item<int32_t>(), 2);
  // NaN from the start.
  const auto none = minimize([](const Array& x) { return sum(log(x)); }, full({2}, -1.0f));
  EXPECT_FALSE(none.converged.item<bool>());
  // Not finite a step away: the line search comes back.
  const auto wall = [](const Array& x) { return sum(x - log(x)); };
  EXPECT_TRUE(allclose(minimize(wall, full({2}, 0.01f), {.tolerance = 1e-3}).params, ones({2}),
                       {.rtol = 1e-2}));
}

TEST(Minimize, EndsAtTheLastFinitePoint) {
  const auto kink = [](const Array& x) { return sum(abs(x)); };
  const auto run = jit([&](const Array& x) { return minimize(kink, x); });
  const Array from = 3.0f * random::normal(Key(0), {20, 2});
  for (int i = 0; i < 20; ++i) {
    const auto found = run(from[i]);
    EXPECT_EQ(found.value.item<float>(), kink(found.params).item<float>()) << from[i];
    EXPECT_LE(found.value.item<float>(), kink(from[i]).item<float>()) << from[i];
  }
  // The first direction is not finite.
  const Array x = array({1.0f, 2.0f});
  const auto none = [](const Array& p) { return sum(log(p)); };
  const auto optimizer = lbfgs();
  const Array updates =
      optimizer.update(full({2}, std::nanf("")), optimizer.init(x), x, none).first;
  EXPECT_TRUE(array_equal(updates, zeros({2})));
}

// Checks each result for NaN while it lives.
struct NanGuard {
  bool before = debug_nans();
  NanGuard() { set_debug_nans(true); }
  ~NanGuard() { set_debug_nans(before); }
};

TEST(Minimize, MakesNoNanOnTheWay) {
  const NanGuard guard;
  const auto bowl = [](const Array& x) { return sum(square(x - 1.0f)); };
  EXPECT_NO_THROW(minimize(bowl, full({2}, 3.0f)));
  EXPECT_NO_THROW(minimize(valley, start()));
}

TEST(Minimize, SaysWhatHasNoDerivative) {
  const auto least = [](const Array& a) {
    return minimize([&](const Array& x) { return sum(square(x - a)); }, zeros({2}),
                    {.max_steps = 5})
        .value;
  };
  EXPECT_THAT(message<DerivativeError>([&] { grad(least)(ones({2})); }),
              HasSubstr("minimize: its loop has no derivative in reverse mode; take custom_root"));
  const auto whole = [](const Array& x) { return astype(sum(x), float32); };
  EXPECT_THAT(message<DerivativeError>([&] {
                minimize(whole, array({3, 4}));
              }),
              HasSubstr("minimize: argument 0 is i32[2]"));
}

TEST(Minimize, OtherLeavesStay) {
  struct Model {
    Array w;
    Array count;
    Buffer seen;
    Key key;
  };
  const Model model{ones({2}), array(3), {ones({1})}, Key(4)};
  const auto found = minimize([](const Model& m) { return sum(square(m.w - 2.0f)); }, model);
  EXPECT_TRUE(allclose(found.params.w, full({2}, 2.0f)));
  EXPECT_EQ(found.params.count.item<int32_t>(), 3);
  EXPECT_EQ(found.params.seen.value.item<float>(), 1);
}

TEST(Minimize, BadOptions) {
  const auto of = [](const MinimizeOptions& o) {
    try {
      minimize([](const Array& x) { return sum(x * x); }, ones({2}), o);
    } catch (const ValueError& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(of({.max_steps = -1}), HasSubstr("minimize: max_steps is -1"));
  EXPECT_THAT(of({.tolerance = -1}), HasSubstr("minimize: tolerance is -1"));
  EXPECT_THAT(of({.memory_size = 0}), HasSubstr("minimize: memory_size is 0"));
  EXPECT_THAT(of({.line_search = {.max_steps = 0}}),
              HasSubstr("max_steps of the line search is 0"));
  EXPECT_THAT(of({.line_search = {.curv_rtol = 2}}), HasSubstr("minimize: curv_rtol is 2"));
}

}  // namespace minimize_test
}  // namespace spruce::optim
