// SPDX-License-Identifier: Apache-2.0
// The order of a compiled graph against others: its peak is within 1.1 of the best that is found.
#include <gtest/gtest.h>

#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/optim/optim.h"
#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace best_order_test {

// Bytes of temporaries, and of results for which there is no donor.
size_t peak(const Graph& g) {
  const internal::Plan plan(g);
  size_t bytes = plan.temporary_bytes();
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const internal::Plan::Result& r = plan.results()[k];
    if (r.from == internal::Plan::Result::From::kOwn && r.donor < 0)
      bytes += static_cast<size_t>(g.avals[static_cast<size_t>(g.outputs[k])].bytes());
  }
  return bytes;
}

// The equations in another order: always one of those whose operands are there, mostly one of the
// newest, so that what belongs together stays together.
Graph shuffled(const Graph& g, std::mt19937& random) {
  Graph out = g;
  out.equations.clear();
  std::vector<uint8_t> there(g.avals.size(), 0), done(g.equations.size(), 0);
  for (const ValueId v : g.inputs) there[static_cast<size_t>(v)] = 1;
  for (const Graph::Constant& c : g.constants) there[static_cast<size_t>(c.id)] = 1;
  while (out.equations.size() < g.equations.size()) {
    std::vector<size_t> ready;
    for (size_t n = 0; n < g.equations.size(); ++n) {
      bool can = done[n] == 0;
      for (const ValueId v : g.equations[n].inputs) can = can && there[static_cast<size_t>(v)] != 0;
      if (can) ready.push_back(n);
    }
    const size_t n = random() % 3 == 0   ? ready[random() % ready.size()]
                     : random() % 2 == 0 ? ready.front()
                                         : ready.back();
    done[n] = 1;
    out.equations.push_back(g.equations[n]);
    for (const ValueId v : g.equations[n].outputs) there[static_cast<size_t>(v)] = 1;
  }
  check(out);
  return out;
}

template <class F, class... Args>
void expect_near_best(const char* what, const F& f, const Args&... args) {
  const Graph compiled = jit(f).lower(args...).compiled_graph();
  const size_t ours = peak(compiled);
  size_t best = ours, worst = ours;
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const size_t other = peak(shuffled(compiled, random));
    best = std::min(best, other);
    worst = std::max(worst, other);
  }
  EXPECT_LE(static_cast<double>(ours), 1.1 * static_cast<double>(best)) << what << compiled;
  EXPECT_GT(static_cast<double>(worst), 1.1 * static_cast<double>(best)) << what << ": any will do";
}

Array noise(int64_t seed, const Shape& shape) { return random::normal(Key(seed), shape); }

struct Net {
  std::vector<nn::Linear> layers;
};

Net net(const std::vector<int64_t>& sizes) {
  Net n;
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    n.layers.push_back(nn::Linear::init(Key(static_cast<int64_t>(i)), sizes[i], sizes[i + 1]));
  return n;
}

Array apply(const Net& n, Array x) {
  for (size_t i = 0; i + 1 < n.layers.size(); ++i) x = nn::relu(n.layers[i](x));
  return n.layers.back()(x);
}

template <class Optimizer, class Loss, class Params>
void expect_step(const char* what, const Optimizer& optimizer, const Loss& loss,
                 const Params& params, const Array& x) {
  const auto step = [&](const Params& p, const auto& state, const Array& in) {
    const auto [value, grads] = value_and_grad(loss)(p, in);
    const auto [updates, next] = optimizer.update(grads, state, p);
    return std::tuple{optim::apply_updates(p, updates), next, value};
  };
  expect_near_best(what, step, params, optimizer.init(params), x);
}

TEST(BestOrder, OfTrainingSteps) {
  const auto loss = [](const Net& n, const Array& x) { return mean(square(apply(n, x))); };
  expect_step("sgd", optim::sgd({.learning_rate = 0.1f}), loss, net({2, 32, 32, 2}),
              noise(1, {100, 2}));
  expect_step("adam", optim::adam({.learning_rate = 0.1f}), loss, net({96, 64, 64, 64, 10}),
              noise(2, {128, 96}));
}

TEST(BestOrder, OfAttention) {
  const auto loss = [](const std::vector<Array>& w, const Array& x) {
    const Array q = matmul(x, w[0]), k = matmul(x, w[1]), v = matmul(x, w[2]);
    const Array p = nn::softmax(matmul(q, swapaxes(k, -1, -2)) * 0.1f);
    const Array h = x + matmul(matmul(p, v), w[3]);
    return mean(square(h + matmul(nn::gelu(matmul(nn::layer_norm(h, {32}), w[4])), w[5])));
  };
  const std::vector<Array> w = {noise(1, {32, 32}), noise(2, {32, 32}),  noise(3, {32, 32}),
                                noise(4, {32, 32}), noise(5, {32, 128}), noise(6, {128, 32})};
  expect_step("attention", optim::adam({.learning_rate = 0.1f}), loss, w, noise(7, {4, 48, 32}));
}

TEST(BestOrder, OfARecurrentNet) {
  const auto loss = [](const std::vector<Array>& w, const Array& xs) {
    const auto step = [&](const Array& h, const Array& x) {
      const Array next = tanh(matmul(h, w[0]) + matmul(x, w[1]));
      return std::pair{next, next};
    };
    return mean(square(scan(step, zeros({8, 32}), xs).second));
  };
  expect_step("recurrent", optim::sgd({.learning_rate = 0.1f}), loss,
              std::vector<Array>{0.1f * noise(1, {32, 32}), noise(2, {16, 32})},
              noise(3, {20, 8, 16}));
}

}  // namespace best_order_test
}  // namespace spruce
