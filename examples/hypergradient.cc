// SPDX-License-Identifier: Apache-2.0
// Hyperparameters by gradient descent (Maclaurin et al. 2015, https://arxiv.org/abs/1502.03492):
// the loss on unseen data, as a function of the learning rate and of the weight decay of each
// input, is differentiated through all steps of training.
//
//   hypergradient --steps 60
//
// Exits 0 if the unseen loss has fallen by half, and inputs that say nothing decay most.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
using sp::Array;

namespace {

constexpr int64_t kInputs = 12, kUseful = 4, kInner = 50;

// Logarithms, so that all values are allowed.
struct Hyper {
  Array log_rate;   // f[]
  Array log_decay;  // f[kInputs]
};

struct Set {
  Array x, y;
};

// The first inputs matter, the others are noise; there are few examples, so that it is learned too.
Set examples(const sp::Key& key, int64_t n) {
  const auto [k1, k2] = sp::random::split<2>(key);
  const Array x = sp::random::normal(k1, {n, kInputs});
  const Array useful = sp::sum(x[{sp::slice(), sp::slice(kUseful)}], 1);
  return {x, useful + 0.5f * sp::random::normal(k2, {n})};
}

Array error(const Array& w, const Set& s) { return sp::mean(sp::square(sp::matmul(s.x, w) - s.y)); }

// The weights after kInner steps from zero.
Array train(const Hyper& h, const Set& s) {
  const auto loss = [&](const Array& w) {
    return error(w, s) + sp::sum(sp::exp(h.log_decay) * sp::square(w));
  };
  const auto step = [&](const Array&, const Array& w) {
    return w - sp::exp(h.log_rate) * sp::grad(loss)(w);
  };
  return sp::fori_loop(0, kInner, step, sp::zeros({kInputs}));
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 60);
  const Set seen = examples(sp::Key(0), 16), unseen = examples(sp::Key(1), 64),
            last = examples(sp::Key(2), 1000);
  Hyper h{sp::array(-4.0f), sp::full({kInputs}, -4.0f)};
  const auto loss = [&](const Hyper& g) { return error(train(g, seen), unseen); };
  const auto optimizer = sp::optim::adam({.learning_rate = 0.1});
  auto state = optimizer.init(h);
  const auto step = sp::jit([&](const Hyper& g, const auto& s) {
    const auto [value, grads] = sp::value_and_grad(loss)(g);
    const auto [updates, next] = optimizer.update(grads, s, g);
    return std::tuple{sp::optim::apply_updates(g, updates), next, value};
  });

  const float before = error(train(h, seen), last).item<float>();
  std::vector<double> curve;
  for (int64_t i = 0; i < steps; ++i) {
    Array value;
    std::tie(h, state, value) = step(std::move(h), std::move(state));
    curve.push_back(value.item<float>());
  }
  const float after = error(train(h, seen), last).item<float>();
  std::printf("%s", sp::data::curves_text({{"*", curve}},
                                          {.title = "error on unseen examples", .x_label = "steps"})
                        .c_str());
  const Array decay = sp::exp(h.log_decay);
  const float useful = sp::mean(decay[sp::slice(kUseful)]).item<float>(),
              noise = sp::mean(decay[sp::slice(kUseful, sp::none)]).item<float>();
  std::printf("learning rate %.3f; decay of useful inputs %.3f, of the others %.3f\n",
              sp::exp(h.log_rate).item<float>(), useful, noise);
  std::printf("error on a thousand others %.3f, before %.3f\n", after, before);
  return after < 0.5f * before && noise > useful ? 0 : 1;
}
