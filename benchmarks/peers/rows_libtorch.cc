// SPDX-License-Identifier: Apache-2.0
// The rows that PyTorch's C++ API has the parts for: it has no vmap and no transforms of functions.
// Prints JSON lines as the other peers do, with the same values.
//
//   T=$(python -c 'import os, torch; print(os.path.dirname(torch.__file__))')
//   g++ -std=c++20 -O2 rows_libtorch.cc -o rows_libtorch -I$T/include \
//     -I$T/include/torch/csrc/api/include -L$T/lib -Wl,-rpath,$T/lib -ltorch -ltorch_cpu -lc10
#include <sched.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

// JAX's random streams, as streams.py has them.
namespace streams {

using Key = std::array<uint32_t, 2>;
using Shape = std::vector<int64_t>;

Key block(const Key& key, uint32_t high, uint32_t low) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t schedule[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  uint32_t a = high + schedule[0], b = low + schedule[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int r : kRotations[group % 2]) {
      a += b;
      b = ((b << r) | (b >> (32 - r))) ^ a;
    }
    a += schedule[(group + 1) % 3];
    b += schedule[(group + 2) % 3] + group + 1;
  }
  return {a, b};
}

std::vector<Key> split(const Key& key, uint32_t count) {
  std::vector<Key> out;
  for (uint32_t i = 0; i < count; ++i) out.push_back(block(key, 0, i));
  return out;
}

uint32_t bits(const Key& key, int64_t i) {
  const Key b = block(key, 0, static_cast<uint32_t>(i));
  return b[0] ^ b[1];
}

Tensor uniform(const Key& key, const Shape& shape, float low, float high) {
  Tensor out = torch::empty(shape);
  float* to = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    const uint32_t mantissa = (bits(key, i) >> 9) | 0x3F800000u;
    float unit;
    std::memcpy(&unit, &mantissa, sizeof unit);
    to[i] = std::max(low, (unit - 1) * (high - low) + low);
  }
  return out;
}

Tensor normal(const Key& key, const Shape& shape) {
  return std::sqrt(2.0f) * torch::erfinv(uniform(key, shape, std::nextafter(-1.0f, 0.0f), 1));
}

Tensor integers(const Key& key, int64_t count, uint64_t high) {
  const std::vector<Key> keys = split(key, 2);
  const uint64_t half = (uint64_t{1} << 16) % high, carry = half * half % high;
  Tensor out = torch::empty({count}, torch::kLong);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t a = bits(keys[0], i) % high, b = bits(keys[1], i) % high;
    out.data_ptr<int64_t>()[i] = static_cast<int64_t>((a * carry + b) % high);
  }
  return out;
}

}  // namespace streams

const streams::Key kParameters{0, 0}, kData{0, 9};

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Program {
  std::vector<std::string> wanted;
  double seconds = 1.5;

  // One row: `make` gives the call to be timed.
  void row(const char* name, const std::function<std::function<Tensor()>()>& make) const {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
    const std::function<Tensor()> call = make();
    auto start = Clock::now();
    const double value = call().abs().mean().item<double>(), first = since(start);
    std::vector<double> times;
    start = Clock::now();
    for (int inner = 1; times.size() < 5 || since(start) < seconds;) {
      const auto begin = Clock::now();
      for (int i = 0; i < inner; ++i) call();
      const double took = since(begin);
      times.push_back(took / inner);
      if (took < 2e-3) inner *= 2;
    }
    times.erase(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 3));
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf(
        "{\"row\": \"%s\", \"peer\": \"libtorch\", \"us\": %.2f, \"compile_ms\": %.1f, "
        "\"value\": %.7g}\n",
        name, median * 1e6, std::max(0.0, first - median) * 1e3, value);
    std::fflush(stdout);
  }
};

// A layer with the parameters of its key.
template <class Layer>
Layer filled(Layer layer, const streams::Key& key) {
  const torch::NoGradGuard guard;
  const std::vector<streams::Key> keys = streams::split(key, 2);
  const float bound = 1 / std::sqrt(static_cast<float>(layer->weight[0].numel()));
  layer->weight.copy_(streams::uniform(keys[0], layer->weight.sizes().vec(), -bound, bound));
  layer->bias.copy_(streams::uniform(keys[1], layer->bias.sizes().vec(), -bound, bound));
  return layer;
}

template <class Activation>
nn::Sequential mlp(const std::vector<int64_t>& sizes) {
  const auto keys = streams::split(kParameters, static_cast<uint32_t>(sizes.size()));
  nn::Sequential net;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (i > 0) net->push_back(Activation());
    net->push_back(filled(nn::Linear(sizes[i], sizes[i + 1]), keys[i]));
  }
  return net;
}

template <class Optimizer, class Net, class Options, class Loss>
std::function<Tensor()> trained(Net net, const Options& options, Loss loss) {
  const auto optimizer = std::make_shared<Optimizer>(net->parameters(), options);
  return [=]() mutable {
    optimizer->zero_grad();
    Tensor value = loss(net);
    value.backward();
    optimizer->step();
    return value.detach();
  };
}

auto classification(const Tensor& x, const Tensor& y) {
  return [=](nn::Sequential& net) { return torch::cross_entropy_loss(net->forward(x), y); };
}

nn::Sequential lenet() {
  const auto k = streams::split(kParameters, 5);
  return nn::Sequential(filled(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), k[0]), nn::ReLU(),
                        nn::MaxPool2d(2), filled(nn::Conv2d(6, 16, 5), k[1]), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), filled(nn::Linear(400, 120), k[2]),
                        nn::ReLU(), filled(nn::Linear(120, 84), k[3]), nn::ReLU(),
                        filled(nn::Linear(84, 10), k[4]));
}

nn::LSTM lstm() {
  const torch::NoGradGuard guard;
  nn::LSTM net(64, 128);
  const auto keys = streams::split(kParameters, 2);
  const auto input = filled(nn::Linear(64, 512), keys[0]);
  const auto hidden = filled(nn::Linear(128, 512), keys[1]);
  auto parameters = net->named_parameters();
  parameters["weight_ih_l0"].copy_(input->weight);
  parameters["bias_ih_l0"].copy_(input->bias);
  parameters["weight_hh_l0"].copy_(hidden->weight);
  parameters["bias_hh_l0"].copy_(hidden->bias);
  return net;
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--seconds" && i + 1 < argc)
      program.seconds = std::stod(argv[++i]);
    else
      program.wanted.emplace_back(argv[i]);
  }
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  torch::set_num_threads(CPU_COUNT(&allowed));

  using torch::optim::Adam, torch::optim::AdamOptions, torch::optim::SGD, torch::optim::SGDOptions;
  program.row("tiny_mlp", [] {
    return trained<SGD>(
        mlp<nn::Tanh>({2, 32, 32, 2}), SGDOptions(0.1),
        classification(streams::normal(kData, {100, 2}), streams::integers(kData, 100, 2)));
  });
  program.row("mlp_adam", [] {
    return trained<Adam>(
        mlp<nn::ReLU>({784, 512, 512, 10}), AdamOptions(1e-3),
        classification(streams::normal(kData, {128, 784}), streams::integers(kData, 128, 10)));
  });
  program.row("lenet", [] {
    return trained<SGD>(
        lenet(), SGDOptions(0.01),
        classification(streams::normal(kData, {64, 1, 28, 28}), streams::integers(kData, 64, 10)));
  });
  program.row("lstm", [] {
    const Tensor x = streams::normal(kData, {64, 32, 64});
    return trained<SGD>(lstm(), SGDOptions(0.01), [x](nn::LSTM& net) {
      return std::get<0>(net->forward(x)).square().mean();
    });
  });
  program.row("eager_add10", [] {
    const Tensor a = streams::normal(kData, {10});
    return [a] { return a + a; };
  });
}
