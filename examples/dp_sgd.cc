// SPDX-License-Identifier: Apache-2.0
// Training that tells little of any one example (Abadi et al. 2016,
// https://arxiv.org/abs/1607.00133): the gradient of each example by vmap, cut off at a norm, and
// noise on their sum. The embedded digits are the data.
//
//   dp_sgd --steps 400 --noise 100      (in hundredths of the norm)
//
// Exits 0 if 80 of 100 unseen digits are read, and no example moved a step by more than the norm.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr float kNorm = 1.0f;
constexpr int64_t kBatch = 128;

struct Net {
  nn::Linear hidden, out;
  Array operator()(const Array& x) const { return out(nn::relu(hidden(x))); }
};
struct Digits {
  Array x, y;  // f32[n, 64] and i32[n]
};

Digits load() {
  const Array table =
      sp::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false}).matrix();
  return {table[{sp::slice(), sp::slice(64)}] / 16.0f, table[{sp::slice(), 64}].astype(sp::int32)};
}

// The same tree with noise of that size in each element.
Net noisy(const Net& net, const sp::Key& key, float size) {
  int64_t i = 0;
  return sp::tree::map(
      [&](const Array& a) {
        return a + size * sp::random::normal(sp::random::fold_in(key, i++), a.shape());
      },
      net);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 400);
  const float noise = static_cast<float>(number_argument(argc, argv, "--noise", 100)) / 100.0f;
  const Digits all = load();
  const int64_t n = all.y.size(), seen = n * 9 / 10;
  const Digits train{all.x[sp::slice(seen)], all.y[sp::slice(seen)]},
      unseen{all.x[sp::slice(seen, sp::none)], all.y[sp::slice(seen, sp::none)]};

  const auto [k1, k2] = sp::random::split<2>(sp::Key(0));
  Net net{nn::Linear::init(k1, 64, 64), nn::Linear::init(k2, 64, 10)};
  const auto loss = [](const Net& m, const Array& x, const Array& y) {
    return nn::cross_entropy(m(x), y);
  };
  const auto step = sp::jit([&](const Net& m, const sp::Key& key) {
    const auto [pick, blur] = sp::random::split<2>(key);
    const Array rows = sp::random::choice(pick, seen, {kBatch});
    // One gradient for each example, each at most as long as the norm.
    const auto clipped = [&](const Array& x, const Array& y) {
      const Net g = sp::grad(loss)(m, x, y);
      const Array factor = sp::minimum(1.0f, kNorm / sp::optim::global_norm(g));
      return sp::tree::map([&](const Array& a) { return a * factor; }, g);
    };
    const Net each = sp::vmap(clipped)(sp::take(train.x, rows, 0), sp::take(train.y, rows, 0));
    const Array longest =
        sp::max(sp::vmap([](const Net& g) { return sp::optim::global_norm(g); })(each));
    const Net total = sp::tree::map([](const Array& a) { return sp::sum(a, 0); }, each);
    const Net private_sum = noisy(total, blur, noise * kNorm);
    const Net next = sp::tree::map(
        [](const Array& p, const Array& g) { return p - 1.0f / kBatch * g; }, m, private_sum);
    return std::pair{next, longest};
  });

  float longest = 0;
  sp::io::Progress progress({.steps = steps});
  for (int64_t i = 0; i < steps; ++i) {
    Array norm;
    std::tie(net, norm) = step(std::move(net), sp::random::fold_in(sp::Key(1), i));
    longest = std::max(longest, norm.item<float>());
    progress.step({{"longest", norm.item<float>()}});
    if ((i + 1) % ((steps + 3) / 4) == 0)
      std::printf("step %4lld  right on unseen digits %.3f\n", static_cast<long long>(i + 1),
                  nn::accuracy(net(unseen.x), unseen.y).item<float>());
  }
  const float right = nn::accuracy(net(unseen.x), unseen.y).item<float>();
  std::printf("no example moved a step by more than %.3f, noise %.2f\n", longest, noise * kNorm);
  return right > 0.8f && longest <= kNorm * 1.0001f ? 0 : 1;
}
