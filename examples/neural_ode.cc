// SPDX-License-Identifier: Apache-2.0
// A neural ordinary differential equation (Chen et al. 2018, https://arxiv.org/abs/1806.07366):
// dz/dt is a network, learned from a spiral. The integration is a scan of Runge-Kutta steps that
// keeps the state at each step alone (.checkpoint) and computes the rest again, backward.
//
//   neural_ode --steps 600
//
// Exits 0 if the learned path is near the true one, beyond the times that it was learned from too.
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

constexpr float kStep = 0.1f;
constexpr int64_t kSeen = 60, kAll = 80;

struct Field {
  nn::Linear in, out;
  // Of cubes, as in the paper: a hint, with which few steps are enough.
  Array operator()(const Array& z) const { return out(nn::tanh(in(z * z * z))); }
};

// The truth: a spiral into the middle.
Array truth(const Array& z) {
  return sp::matmul(z * z * z, sp::array({{-0.1f, 2.0f}, {-2.0f, -0.1f}}));
}

// The path f32[length, 2] from z, one step of the classical Runge-Kutta method after the other.
template <class F>
Array path(const F& f, const Array& z, int64_t length) {
  const auto step = [&](const Array& at) {
    const Array k1 = f(at), k2 = f(at + 0.5f * kStep * k1), k3 = f(at + 0.5f * kStep * k2),
                k4 = f(at + kStep * k3);
    const Array next = at + (kStep / 6) * (k1 + 2.0f * k2 + 2.0f * k3 + k4);
    return std::pair{next, next};
  };
  return sp::scan(step, z, {.length = length, .checkpoint = true}).second;
}

// Both paths in a terminal.
void plot(const Array& a, const Array& b) {
  constexpr int kRows = 21, kColumns = 56;
  std::vector<std::string> lines(kRows, std::string(kColumns, ' '));
  for (const auto& [letter, p] : {std::pair{'.', a}, std::pair{'*', b}}) {
    const auto v = p.to_vector<float>();
    for (size_t i = 0; i + 1 < v.size(); i += 2) {
      const auto column = static_cast<int>(std::lround((v[i] / 2.2f + 1) / 2 * (kColumns - 1)));
      const auto row = static_cast<int>(std::lround((1 - v[i + 1] / 2.2f) / 2 * (kRows - 1)));
      if (row >= 0 && row < kRows && column >= 0 && column < kColumns)
        lines[static_cast<size_t>(row)][static_cast<size_t>(column)] = letter;
    }
  }
  for (const std::string& line : lines) std::printf("|%s|\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 600);
  const Array start = sp::array({2.0f, 0.0f});
  const Array whole = path(truth, start, kAll), seen = whole[sp::slice(0, kSeen)];
  const Array starts = sp::concatenate({start.reshape({1, 2}), seen[sp::slice(0, -1)]});

  const auto [k1, k2] = sp::random::split<2>(sp::Key(0));
  Field field{nn::Linear::init(k1, 2, 32), nn::Linear::init(k2, 32, 2)};
  const auto optimizer = sp::optim::adam({.learning_rate = 1e-2});
  auto state = optimizer.init(field);
  constexpr int64_t kLength = 10;  // of the pieces that are compared
  const auto step = sp::jit([&](const Field& f, const auto& s, const sp::Key& key) {
    const Array from = sp::random::randint(key, {16}, 0, kSeen - kLength + 1);
    const auto loss = [&](const Field& g) {
      const auto piece = [&](const Array& i) {
        const Array z = sp::take(starts, i, 0);
        return nn::mse_loss(path(g, z, kLength), sp::dynamic_slice_in_dim(seen, i, kLength));
      };
      return sp::mean(sp::vmap(piece)(from));
    };
    const auto [value, grads] = sp::value_and_grad(loss)(f);
    const auto [updates, next] = optimizer.update(grads, s, f);
    return std::tuple{sp::optim::apply_updates(f, updates), next, value};
  });
  {
    sp::io::Progress progress({.steps = steps});
    for (int64_t i = 0; i < steps; ++i) {
      Array value;
      std::tie(field, state, value) =
          step(std::move(field), std::move(state), sp::random::fold_in(sp::Key(1), i));
      progress.step({{"error", value.item<float>()}});
      if ((i + 1) % ((steps + 3) / 4) == 0)
        std::printf("step %4lld  error %.5f\n", static_cast<long long>(i + 1), value.item<float>());
    }
  }
  const Array learned = path(field, start, kAll);
  const float error = nn::mse_loss(learned, whole).item<float>();
  std::printf(". the spiral, * what was learned; mean square error of the whole path %.4f\n",
              error);
  plot(whole, learned);
  return error < 0.15f ? 0 : 1;
}
