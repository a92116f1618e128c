// SPDX-License-Identifier: Apache-2.0
// Model-agnostic meta-learning (Finn et al. 2017): weights from which one gradient step, on ten
// points of a sinusoid, makes a model of that sinusoid. The gradient goes through the step, and
// vmap runs 25 sinusoids at once. Draws what is learned of a new one.
//
//   maml --steps 3000
//
// Exits 0 if the step makes the error on new sinusoids a third of what it was, at most.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Net {
  nn::Linear a, b, c;
  Array operator()(const Array& x) const { return c(nn::tanh(b(nn::tanh(a(x))))); }
};

struct Task {  // ten points to learn from, ten to be judged by; f32[10, 1] each
  Array x, y, x_test, y_test;
};

Task draw_task(const sp::Key& key) {
  const auto [k1, k2, k3, k4] = sp::random::split<4>(key);
  const Array height = sp::random::uniform(k1, {}, {.low = 0.5, .high = 4}),
              shift = sp::random::uniform(k2, {}, {.low = 0, .high = 3.1416});
  const auto points = [](const sp::Key& k) {
    return sp::random::uniform(k, {10, 1}, {.low = -5, .high = 5});
  };
  const Array x = points(k3), x_test = points(k4);
  return {x, height * sp::sin(x + shift), x_test, height * sp::sin(x_test + shift)};
}

Net adapted(const Net& net, const Task& task) {
  const auto error = [&](const Net& n) { return nn::mse_loss(n(task.x), task.y); };
  return sp::tree::map([](const Array& p, const Array& g) { return p - 0.05f * g; }, net,
                       sp::grad(error)(net));
}

Array error_after(const Net& net, const Task& task) {
  return nn::mse_loss(adapted(net, task)(task.x_test), task.y_test);
}
Array error_before(const Net& net, const Task& task) {
  return nn::mse_loss(net(task.x_test), task.y_test);
}

template <class F>
Array mean_over(const F& f, const Net& net, const Task& tasks) {
  return sp::mean(sp::vmap(f, {.in_axes = {sp::none, 0}})(net, tasks));
}

// Curves over -5 .. 5 in a terminal, one letter each.
void plot(const std::vector<std::pair<char, Array>>& curves) {
  constexpr int kRows = 13, kColumns = 64;
  std::vector<std::string> lines(kRows, std::string(kColumns, ' '));
  for (const auto& [letter, y] : curves) {
    const auto values = y.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      const int row = static_cast<int>(std::lround((1 - values[i] / 4.5f) * (kRows / 2)));
      if (row >= 0 && row < kRows) lines[static_cast<size_t>(row)][i] = letter;
    }
  }
  for (const std::string& line : lines) std::printf("|%s|\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 3000);
  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(1));
  Net net{nn::Linear::init(k1, 1, 40), nn::Linear::init(k2, 40, 40), nn::Linear::init(k3, 40, 1)};
  const auto optimizer = sp::optim::adam({.learning_rate = 2e-3});
  auto state = optimizer.init(net);
  const auto step = sp::jit([&](const Net& n, const auto& s, const sp::Key& key) {
    const Task tasks = sp::vmap(draw_task)(sp::random::split(key, 25));
    const auto [value, grads] =
        sp::value_and_grad([&](const Net& m) { return mean_over(error_after, m, tasks); })(n);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{sp::optim::apply_updates(n, updates), next, value};
  });
  {
    sp::io::Progress progress({.steps = steps});
    for (int64_t i = 0; i < steps; ++i) {
      Array value;
      std::tie(net, state, value) =
          step(std::move(net), std::move(state), sp::random::fold_in(sp::Key(2), i));
      progress.step({{"error", value.item<float>()}});
    }
  }
  const Task fresh = sp::vmap(draw_task)(sp::random::split(sp::Key(77), 200));
  const float before = mean_over(error_before, net, fresh).item<float>(),
              after = mean_over(error_after, net, fresh).item<float>();
  std::printf("error on 200 new sinusoids: %.3f before the step, %.3f after it\n", before, after);

  const Task one = draw_task(sp::Key(79));
  const Array grid = sp::linspace(-5, 5, 64).reshape({64, 1});
  // The sinusoid through its points: height and shift from their values.
  const Array basis = sp::concatenate({sp::sin(one.x), sp::cos(one.x)}, 1);
  const auto fit = sp::minimize(
      [&](const Array& w) { return nn::mse_loss(sp::matmul(basis, w), one.y); }, sp::zeros({2, 1}));
  const Array truth = sp::matmul(sp::concatenate({sp::sin(grid), sp::cos(grid)}, 1), fit.params);
  std::printf("a new one: . the sinusoid, o the model before the step, * after it\n");
  plot({{'.', truth.reshape({64})},
        {'o', net(grid).reshape({64})},
        {'*', adapted(net, one)(grid).reshape({64})}});
  return after * 3 < before ? 0 : 1;
}
