// SPDX-License-Identifier: Apache-2.0
// Transforms of different threads do not see each other, and a compiled function runs beside
// itself.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <vector>

#include "tests/concurrency/at_once.h"

namespace spruce {
namespace transform_test {

using testing::at_once;

Array wave(const Array& x) { return sum(sin(x) * exp(-x)); }

TEST(Transforms, NestOnEachThreadByItself) {
  const Array x = linspace(0.1f, 2.0f, 12);
  const Array slope = grad(wave)(x);
  const Array curvature = hessian(wave)(x);
  const Array rows = stack({x, 2.0f * x});
  const Array row_slopes = vmap(grad(wave))(rows);
  at_once([&](int thread) {
    for (int i = 0; i < 100; ++i) {
      switch ((thread + i) % 4) {
        case 0:
          EXPECT_TRUE(array_equal(grad(wave)(x), slope));
          break;
        case 1:
          EXPECT_TRUE(array_equal(hessian(wave)(x), curvature));
          break;
        case 2:
          EXPECT_TRUE(array_equal(vmap(grad(wave))(rows), row_slopes));
          break;
        default:
          EXPECT_TRUE(array_equal(wave(x), wave(x + 0.0f)));
          break;
      }
    }
  });
}

TEST(Jit, RunsBesideItself) {
  const auto slope = jit(grad(wave));
  const Array x = linspace(0.1f, 2.0f, 300);
  const Array expected = slope(x);
  at_once([&](int) {
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(array_equal(slope(x), expected));
  });
  EXPECT_EQ(slope.trace_count(), 1);
}

TEST(Jit, IsFirstCalledByAllAtOnce) {
  const auto slope = jit(grad(wave));
  at_once([&](int thread) {
    for (int n = 1; n <= 20; ++n) {
      const Array x = linspace(0.1f, 2.0f, n + thread % 2);
      EXPECT_TRUE(allclose(slope(x), grad(wave)(x)));
    }
  });
}

TEST(Jit, TakesDonatedArgumentsOnEveryThread) {
  const auto step = jit([](const Array& x) { return x * 0.5f + 1.0f; });
  const Array start = full({1000}, 10.0f);
  at_once([&](int) {
    Array x = start;
    for (int i = 0; i < 60; ++i) x = step(std::move(x));
    EXPECT_TRUE(allclose(x, full({1000}, 2.0f)));
  });
  EXPECT_TRUE(array_equal(start, full({1000}, 10.0f)));
}

TEST(Training, RunsOnEveryThread) {
  struct Model {
    nn::Linear hidden, out;
  };
  const auto loss = [](const Model& model, const Array& x, const Array& y) {
    return nn::mse_loss(model.out(nn::relu(model.hidden(x))), y);
  };
  const auto train = [&] {
    const auto keys = random::split<3>(Key(5));
    const Array x = random::normal(keys[0], {32, 4});
    Model model{nn::Linear::init(keys[1], 4, 16), nn::Linear::init(keys[2], 16, 1)};
    const auto optimizer = optim::adam({.learning_rate = 1e-2f});
    auto state = optimizer.init(model);
    for (int i = 0; i < 10; ++i) {
      const auto grads = grad(loss)(model, x, sum(x, 1, {.keepdims = true}));
      const auto [updates, next] = optimizer.update(grads, state, model);
      model = optim::apply_updates(model, updates);
      state = next;
    }
    return loss(model, x, sum(x, 1, {.keepdims = true})).item<float>();
  };
  const float expected = train();
  at_once([&](int) { EXPECT_EQ(train(), expected); });
}

// One compiled training step with Adam, called by all: each gets what one thread gets alone, to the
// bit.
TEST(Training, OneCompiledStepServesAllThreads) {
  struct Model {
    nn::Linear hidden, out;
  };
  const auto [k1, k2, k3] = random::split<3>(Key(1));
  const Model start{nn::Linear::init(k1, 20, 64), nn::Linear::init(k2, 64, 3)};
  const Array x = random::normal(k3, {32, 20}), y = sin(x[{ellipsis, slice(0, 3)}]);
  const auto optimizer = optim::adam({.learning_rate = 1e-2f});
  const auto step = jit([&](const Model& model, const auto& state) {
    const auto [loss, grads] = value_and_grad(
        [&](const Model& m) { return nn::mse_loss(m.out(tanh(m.hidden(x))), y); })(model);
    const auto [updates, next] = optimizer.update(grads, state, model);
    return std::tuple{optim::apply_updates(model, updates), next, loss};
  });
  const auto train = [&] {
    Model model = start;
    auto state = optimizer.init(model);
    Array loss;
    for (int i = 0; i < 20; ++i)
      std::tie(model, state, loss) = step(std::move(model), std::move(state));
    return std::pair{model, loss};
  };
  const auto alone = train();
  at_once([&](int) {
    const auto [model, loss] = train();
    EXPECT_TRUE(array_equal(model.hidden.weight, alone.first.hidden.weight));
    EXPECT_TRUE(array_equal(*model.out.bias, *alone.first.out.bias));
    EXPECT_TRUE(array_equal(loss, alone.second));
  });
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_LT(alone.second.item<float>(), 0.5f);
}

}  // namespace transform_test
}  // namespace spruce
