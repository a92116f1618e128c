// SPDX-License-Identifier: Apache-2.0
// An optimizer that is learned (Andrychowicz et al. 2016, https://arxiv.org/abs/1606.04474): an
// LSTM, one for each coordinate with weights in common, turns gradients into updates. It is trained
// by the gradient of the loss along thirty of its own steps, on 64 random problems at once, and
// held against SGD and Adam with the best of many learning rates.
//
//   learned_optimizer --steps 800
//
// Exits 0 if it ends lower than both, on problems that it has not seen.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <limits>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
namespace optim = spruce::optim;
using sp::Array;

namespace {

constexpr int64_t kSize = 10, kInner = 30, kHidden = 20;

struct Problem {  // |w x - y|^2
  Array w, y;
  Array operator()(const Array& x) const { return sp::sum(sp::square(sp::matmul(w, x) - y)); }
};

Problem draw_problem(const sp::Key& key) {
  const auto [k1, k2] = sp::random::split<2>(key);
  return {sp::random::normal(k1, {kSize, kSize}), sp::random::normal(k2, {kSize})};
}

struct Learned {
  nn::LSTMCell cell;
  nn::Linear out;

  static Learned init(const sp::Key& key) {
    const auto [k1, k2] = sp::random::split<2>(key);
    return {nn::LSTMCell::init(k1, 2, kHidden), nn::Linear::init(k2, kHidden, 1)};
  }
  // The size of a gradient as a logarithm, and its sign: numbers of like size for any problem.
  Array seen(const Array& g) const {
    return sp::stack({0.1f * sp::log(sp::abs(g) + 1e-8f), sp::clip(g, -1.0f, 1.0f)}, -1);
  }
};

// The losses along kInner steps from zero, f32[kInner].
Array run_learned(const Learned& net, const Problem& problem) {
  const auto step = [&](const std::pair<Array, nn::LSTMState>& at, const Array&) {
    const auto& [x, state] = at;
    // Not differentiated by the net's weights, as in the paper: no second derivatives.
    const Array g = sp::stop_gradient(sp::grad(problem)(x));
    const nn::LSTMState next = net.cell(net.seen(g), state);
    const Array after = x + 0.1f * sp::squeeze(net.out(next.h), -1);
    return std::pair{std::pair{after, next}, problem(after)};
  };
  const nn::LSTMState zero{sp::zeros({kSize, kHidden}), sp::zeros({kSize, kHidden})};
  return sp::scan(step, std::pair{sp::zeros({kSize}), zero}, sp::arange(kInner)).second;
}

// The same of an optimizer of the library.
template <class Optimizer>
Array run_with(const Optimizer& optimizer, const Problem& problem) {
  const auto step = [&](const auto& at, const Array&) {
    const auto& [x, state] = at;
    const auto [updates, next] = optimizer.update(sp::grad(problem)(x), state, x);
    const Array after = optim::apply_updates(x, updates);
    return std::pair{std::pair{after, next}, problem(after)};
  };
  const Array start = sp::zeros({kSize});
  return sp::scan(step, std::pair{start, optimizer.init(start)}, sp::arange(kInner)).second;
}

// The mean losses of the rate that ends lowest.
template <class Make>
std::vector<double> best_rate(const Make& make, const Problem& problems) {
  std::vector<double> best{std::numeric_limits<double>::infinity()};
  for (const double rate : {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
    const auto run = [&](const Problem& p) { return run_with(make(rate), p); };
    const Array losses = sp::mean(sp::jit(sp::vmap(run))(problems), 0);
    const auto values = losses.astype(sp::float64).template to_vector<double>();
    if (values.back() < best.back()) best = values;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 800);
  Learned net = Learned::init(sp::Key(0));
  const auto optimizer =
      optim::chain(optim::clip_by_global_norm(1),
                   optim::adam({.learning_rate = optim::cosine_decay_schedule(1e-2f, steps)}));
  auto state = optimizer.init(net);
  const auto losses_of = [](const Learned& n, const Problem& problems) {
    return sp::mean(sp::vmap(run_learned, {.in_axes = {sp::none, 0}})(n, problems), 0);
  };
  const auto step = sp::jit([&](const Learned& n, const auto& s, const sp::Key& key) {
    const Problem problems = sp::vmap(draw_problem)(sp::random::split(key, 64));
    const auto [value, grads] =
        sp::value_and_grad([&](const Learned& m) { return sp::mean(losses_of(m, problems)); })(n);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{optim::apply_updates(n, updates), next, value};
  });
  {
    sp::io::Progress progress({.steps = steps});
    for (int64_t i = 0; i < steps; ++i) {
      Array value;
      std::tie(net, state, value) =
          step(std::move(net), std::move(state), sp::random::fold_in(sp::Key(1), i));
      progress.step({{"loss", value.item<float>()}});
    }
  }
  const Problem fresh = sp::vmap(draw_problem)(sp::random::split(sp::Key(99), 500));
  const auto learned = sp::jit(losses_of)(net, fresh).astype(sp::float64).to_vector<double>();
  const auto sgd =
      best_rate([](double r) { return optim::sgd({.learning_rate = r, .momentum = 0.9}); }, fresh);
  const auto adam = best_rate([](double r) { return optim::adam({.learning_rate = r}); }, fresh);
  std::printf("%s", sp::data::curves_text(
                        {{"learned", learned}, {"sgd", sgd}, {"adam", adam}},
                        {.title = "loss on 500 new problems", .x_label = "steps", .log_y = true})
                        .c_str());
  std::printf("after %d steps: learned %.3f, sgd with momentum %.3f, adam %.3f\n",
              static_cast<int>(kInner), learned.back(), sgd.back(), adam.back());
  return learned.back() < sgd.back() && learned.back() < adam.back() ? 0 : 1;
}
