// SPDX-License-Identifier: Apache-2.0
// Which training examples a prediction rests on (Koh and Liang 2017,
// https://arxiv.org/abs/1703.04730): the influence of an example on the loss at a test point is
// -g_test^T H^-1 g_example, where H is the Hessian of the training loss. H is never made: cg() asks
// for products with it, and hvp() computes them. Some labels are turned around, and found.
//
//   influence --examples 200
//
// Exits 0 if among the examples that harm the test set most nearly all have a wrong label.
#include <spruce/spruce.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Set {
  Array x, y;  // f32[n, 2], f32[n] of 0 and 1
};

// Two clouds.
Set clouds(const sp::Key& key, int64_t n) {
  const auto [k1, k2] = sp::random::split<2>(key);
  const Array y = sp::random::bernoulli(k1, 0.5, {n}).astype(sp::float32);
  const Array middle = (2.0f * y - 1.0f).reshape({n, 1});
  return {middle + 0.8f * sp::random::normal(k2, {n, 2}), y};
}

Array loss_of(const nn::Linear& net, const Array& x, const Array& y) {
  return nn::binary_cross_entropy_with_logits(net(x)[{sp::ellipsis, 0}], y);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t n = number_argument(argc, argv, "--examples", 200), wrong = n / 20;
  Set train = clouds(sp::Key(0), n);
  const Set test = clouds(sp::Key(1), 200);
  train.y = train.y.at(sp::slice(wrong)).set(1.0f - train.y[sp::slice(wrong)]);  // turned around

  const auto loss = [&](const nn::Linear& net) {
    return loss_of(net, train.x, train.y) + 1e-3f * sp::sum(sp::square(net.weight));
  };
  const auto found = sp::minimize(loss, nn::Linear::init(sp::Key(2), 2, 1));
  const nn::Linear& net = found.params;
  std::printf("trained in %lld steps, loss %.4f\n",
              static_cast<long long>(found.steps.item<int32_t>()), found.value.item<float>());

  const nn::Linear at_test =
      sp::grad([&](const nn::Linear& m) { return loss_of(m, test.x, test.y); })(net);
  const auto hessian = [&](const nn::Linear& v) { return sp::hvp(loss, net, v); };
  const nn::Linear direction = sp::cg(hessian, at_test, {.tol = 1e-6});  // H^-1 g_test
  const auto influence = [&](const Array& x, const Array& y) {
    const nn::Linear g = sp::grad([&](const nn::Linear& m) { return loss_of(m, x, y); })(net);
    return sp::sum(direction.weight * g.weight) + sp::sum(*direction.bias * *g.bias);
  };
  // The loss at the test points rises by so much as an example has more weight.
  const auto harm = (-sp::jit(sp::vmap(influence))(train.x, train.y)).to_vector<float>();

  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return harm[static_cast<size_t>(a)] > harm[static_cast<size_t>(b)];
  });
  int64_t hits = 0;
  for (int64_t k = 0; k < wrong; ++k) {
    const int64_t i = order[static_cast<size_t>(k)];
    hits += i < wrong;
    if (k < 5)
      std::printf("example %3lld  harm %8.3f  %s\n", static_cast<long long>(i),
                  harm[static_cast<size_t>(i)], i < wrong ? "its label is wrong" : "");
  }
  std::printf("of the %lld most harmful examples %lld have a wrong label\n",
              static_cast<long long>(wrong), static_cast<long long>(hits));
  return 10 * hits >= 7 * wrong ? 0 : 1;
}
