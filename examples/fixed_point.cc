// SPDX-License-Identifier: Apache-2.0
// A layer of infinite depth (Bai, Kolter and Koltun, "Deep equilibrium models", 2019): its value is
// the z with z = tanh(W z + U x + b), found by iteration and differentiated by the implicit
// function theorem, so that memory does not grow with the number of iterations. It learns to tell
// points of two spirals apart.
#include <spruce/spruce.h>

#include <cmath>
#include <cstdio>

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

struct Equilibrium {
  Array w, u, b;

  static Equilibrium init(const sp::Key& key, int64_t in, int64_t width) {
    const auto [k1, k2] = sp::random::split<2>(key);
    return {0.5f * sp::random::normal(k1, {width, width}) / std::sqrt(static_cast<float>(width)),
            sp::random::normal(k2, {width, in}), sp::zeros({width})};
  }

  Array operator()(const Array& x) const {
    const auto residual = [&](const Array& z) {
      return sp::tanh(sp::matmul(w, z) + sp::matmul(u, x) + b) - z;
    };
    const auto iterate = [](const auto& f, const Array& guess) {
      const auto unsettled = [&](const Array& z) { return sp::max(sp::abs(f(z))) > 1e-5f; };
      return sp::while_loop(unsettled, [&](const Array& z) { return z + f(z); }, guess,
                            {.max_steps = 100});
    };
    // J dz = y, with J = D - I: dz = D dz - y, iterated.
    const auto solve = [](const auto& j, const Array& y) {
      return sp::fori_loop(
          0, 40, [&](const Array&, const Array& v) { return v + j(v) - y; }, -y);
    };
    return sp::custom_root(residual, sp::zeros({w.shape(0)}), iterate, solve);
  }
};

struct Model {
  Equilibrium deep;
  nn::Linear out;
  Array operator()(const Array& x) const { return out(deep(x)); }
};

int main() {
  constexpr int64_t kPoints = 256;
  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(0));
  const Array t = sp::linspace(0.3f, 1.0f, kPoints), side = sp::arange(kPoints, sp::int32) % 2;
  const Array angle = 7.0f * t + 3.14159f * side.astype(sp::float32);
  const Array points = sp::stack({t * sp::cos(angle), t * sp::sin(angle)}, 1) * 2.0f +
                       0.02f * sp::random::normal(k3, {kPoints, 2});

  Model model{Equilibrium::init(k1, 2, 24), nn::Linear::init(k2, 24, 2)};
  const auto loss = [](const Model& m, const Array& x, const Array& y) {
    const Array logits = sp::vmap(m)(x);
    const Array right = sp::mean((sp::argmax(logits, 1) == y).astype(sp::float32));
    return std::pair{nn::cross_entropy(logits, y), right};
  };
  const auto adam = sp::optim::adam({.learning_rate = 1e-2f});
  auto state = adam.init(model);
  const auto step = sp::jit([&](const Model& m, const auto& s, const Array& x, const Array& y) {
    const auto [out, grads] = sp::value_and_grad(loss)(m, x, y);
    const auto [updates, next] = adam.update(grads, s, m);
    return std::tuple{sp::optim::apply_updates(m, updates), next, out};
  });
  float right = 0;
  for (int i = 0; i <= 200; ++i) {
    const auto [next, next_state, out] = step(model, state, points, side);
    model = next;
    state = next_state;
    right = out.second.item<float>();
    if (i % 50 == 0)
      std::printf("step %3d  loss %.4f  right %.3f\n", i, out.first.item<float>(), right);
  }
  return right > 0.95f ? 0 : 1;
}
