// SPDX-License-Identifier: Apache-2.0
// Reptile (Nichol et al. 2018, https://arxiv.org/abs/1803.02999): weights from which some gradient
// steps, on ten points of a sinusoid, make a model of that sinusoid. Unlike maml.cc it takes no
// gradient through those steps: the weights move towards where they lead, for 25 sinusoids at once
// by vmap.
//
//   reptile --steps 3000
//
// Exits 0 if those steps make the error on new sinusoids a quarter of what it was, at most.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kInner = 16;

struct Net {
  nn::Linear a, b, c;
  Array operator()(const Array& x) const { return c(nn::tanh(b(nn::tanh(a(x))))); }
};

struct Task {  // ten points to learn from, fifty to be judged by
  Array x, y, x_test, y_test;
};

Task draw_task(const sp::Key& key) {
  const auto [k1, k2, k3] = sp::random::split<3>(key);
  const Array height = sp::random::uniform(k1, {}, {.low = 0.5, .high = 4}),
              shift = sp::random::uniform(k2, {}, {.low = 0, .high = 3.1416});
  const Array x = sp::random::uniform(k3, {10, 1}, {.low = -5, .high = 5}),
              x_test = sp::linspace(-5, 5, 50).reshape({50, 1});
  return {x, height * sp::sin(x + shift), x_test, height * sp::sin(x_test + shift)};
}

Net adapted(const Net& net, const Task& task) {
  const auto error = [&](const Net& n) { return nn::mse_loss(n(task.x), task.y); };
  return sp::fori_loop(
      0, kInner,
      [&](const Array&, const Net& n) {
        return sp::tree::map([](const Array& p, const Array& g) { return p - 0.03f * g; }, n,
                             sp::grad(error)(n));
      },
      net);
}

// Where the steps of 25 sinusoids lead, on average; one way back from there is the "gradient".
Net towards(const Net& net, const Task& tasks) {
  const Net ends = sp::vmap(adapted, {.in_axes = {sp::none, 0}})(net, tasks);
  return sp::tree::map([](const Array& p, const Array& q) { return p - sp::mean(q, 0); }, net,
                       ends);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 3000);
  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(1));
  Net net{nn::Linear::init(k1, 1, 64), nn::Linear::init(k2, 64, 64), nn::Linear::init(k3, 64, 1)};
  const auto optimizer =
      sp::optim::adam({.learning_rate = sp::optim::cosine_decay_schedule(1e-3f, steps)});
  auto state = optimizer.init(net);
  const auto step = sp::jit([&](const Net& n, const auto& s, const sp::Key& key) {
    const Task tasks = sp::vmap(draw_task)(sp::random::split(key, 25));
    const auto [updates, next] = optimizer.update(towards(n, tasks), s, n);
    return std::pair{sp::optim::apply_updates(n, updates), next};
  });
  {
    sp::io::Progress progress({.steps = steps});
    for (int64_t i = 0; i < steps; ++i) {
      std::tie(net, state) =
          step(std::move(net), std::move(state), sp::random::fold_in(sp::Key(2), i));
      progress.step();
    }
  }
  const Task fresh = sp::vmap(draw_task)(sp::random::split(sp::Key(77), 200));
  const auto errors = sp::jit([](const Net& n, const Task& tasks) {
    const auto of_one = [&](const Task& t) {
      return std::pair{nn::mse_loss(n(t.x_test), t.y_test),
                       nn::mse_loss(adapted(n, t)(t.x_test), t.y_test)};
    };
    const auto [before, after] = sp::vmap(of_one)(tasks);
    return std::pair{sp::mean(before), sp::mean(after)};
  })(net, fresh);
  const float before = errors.first.item<float>(), after = errors.second.item<float>();
  std::printf("error on 200 new sinusoids: %.3f before %d steps, %.3f after them\n", before,
              static_cast<int>(kInner), after);

  const Task one = draw_task(sp::Key(79));
  const auto values = [](const Array& y) { return y.reshape({-1}).to_vector<double>(); };
  const auto numbers = [&](const Array& y) { return values(y.astype(sp::float64)); };
  std::printf("a new one: . the sinusoid, o the model before, * after it has seen ten points\n%s",
              sp::data::curves_text({{".", numbers(one.y_test)},
                                     {"o", numbers(net(one.x_test))},
                                     {"*", numbers(adapted(net, one)(one.x_test))}})
                  .c_str());
  return after * 4 < before ? 0 : 1;
}
