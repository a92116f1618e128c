// SPDX-License-Identifier: Apache-2.0
// Sixteen networks trained at once: vmap over a tree of parameters and over keys, in one compiled
// step. Where they have seen no data they disagree, which says how sure to be (Lakshminarayanan et
// al. 2017, https://arxiv.org/abs/1612.01474).
//
//   ensemble --steps 1500
//
// Exits 0 if they agree where there is data and disagree twice as much elsewhere.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <string>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kNets = 16, kPoints = 64;

struct Net {
  nn::Linear a, b, c;
  static Net init(const sp::Key& key) {
    const auto k = sp::random::split<3>(key);
    return {nn::Linear::init(k[0], 1, 32), nn::Linear::init(k[1], 32, 32),
            nn::Linear::init(k[2], 32, 1)};
  }
  Array operator()(const Array& x) const { return c(nn::tanh(b(nn::tanh(a(x))))); }
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 1500);
  // Data from -3 to -1 and from 1 to 3: none in the middle.
  const Array side = sp::where(sp::arange(kPoints) % 2 == 0, -1.0f, 1.0f);
  const Array x = (side * sp::random::uniform(sp::Key(1), {kPoints}, {.low = 1, .high = 3}))
                      .reshape({kPoints, 1});
  const Array y = sp::sin(2.0f * x) + 0.1f * sp::random::normal(sp::Key(2), {kPoints, 1});

  Net nets =
      sp::vmap(Net::init)(sp::random::split(sp::Key(0), kNets));  // each leaf has an axis more
  const auto optimizer = sp::optim::adam({.learning_rate = 5e-3});
  auto state = sp::vmap([&](const Net& n) { return optimizer.init(n); })(nets);
  const auto step_of_one = [&](const Net& n, const auto& s, const sp::Key& key) {
    const Array rows = sp::random::choice(key, kPoints, {32});  // each net sees batches of its own
    const auto loss = [&](const Net& m) {
      return nn::mse_loss(m(sp::take(x, rows, 0)), sp::take(y, rows, 0));
    };
    const auto [value, grads] = sp::value_and_grad(loss)(n);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{sp::optim::apply_updates(n, updates), next, value};
  };
  const auto step = sp::jit([&](const Net& n, const auto& s, const sp::Key& key) {
    return sp::vmap(step_of_one)(n, s, sp::random::split(key, kNets));
  });
  {
    sp::io::Progress progress({.steps = steps});
    for (int64_t i = 0; i < steps; ++i) {
      Array losses;
      std::tie(nets, state, losses) =
          step(std::move(nets), std::move(state), sp::random::fold_in(sp::Key(3), i));
      progress.step({{"loss", sp::mean(losses).item<float>()}});
    }
  }
  const Array grid = sp::linspace(-3.5f, 3.5f, 15).reshape({15, 1});
  const Array all = sp::vmap([](const Net& n, const Array& at) { return n(at); },
                             {.in_axes = {0, sp::none}})(nets, grid);
  const Array mean = sp::mean(all, 0).reshape({15}), spread = sp::std(all, 0).reshape({15});
  std::printf("    x  sin(2x)    mean  spread\n");
  for (int i = 0; i < 15; ++i) {
    const float at = grid[i].item<float>(), wide = spread[i].item<float>();
    std::printf("%5.1f  %7.2f %7.2f %7.3f  %s\n", at, sp::sin(2 * grid[i]).item<float>(),
                mean[i].item<float>(), wide,
                std::string(static_cast<size_t>(wide * 100), '#').c_str());
  }
  const auto at_points = [&](const Array& points) {
    const Array out = sp::vmap([](const Net& n, const Array& at) { return n(at); },
                               {.in_axes = {0, sp::none}})(nets, points);
    return sp::mean(sp::std(out, 0)).item<float>();
  };
  const float known = at_points(x),
              unknown = at_points(sp::linspace(-0.5f, 0.5f, 20).reshape({20, 1}));
  std::printf("spread where there is data %.3f, in the middle %.3f\n", known, unknown);
  return 2 * known < unknown ? 0 : 1;
}
