// SPDX-License-Identifier: Apache-2.0
// A residual net with batch norm (He et al. 2016, https://arxiv.org/abs/1512.03385) of structs, on
// the digits of the project. Running statistics are fields of the model: a training call notes the
// new ones in its Context, and the step returns the model that has them.
//
//   resnet --epochs 8
//
// Exits 0 if 95 of 100 unseen digits are right.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <vector>

#include "arguments.h"
#include "digits.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

// A convolution without a bias, which the batch norm behind it has.
nn::Conv2d conv(const sp::Key& key, int64_t in, int64_t out, int64_t window, int64_t stride = 1) {
  return nn::Conv2d::init(key, in, out, window,
                          {.stride = stride, .padding = window / 2, .bias = false});
}

struct Block {
  nn::Conv2d conv1, conv2;
  nn::BatchNorm norm1, norm2;
  std::optional<nn::Conv2d> shortcut;  // where the block changes the shape

  static Block init(const sp::Key& key, int64_t in, int64_t out, int64_t stride) {
    const auto k = sp::random::split<3>(key);
    Block block{conv(k[0], in, out, 3, stride),
                conv(k[1], out, out, 3),
                nn::BatchNorm::init(out),
                nn::BatchNorm::init(out),
                {}};
    if (in != out || stride != 1) block.shortcut = conv(k[2], in, out, 1, stride);
    return block;
  }
  Array operator()(const Array& x, nn::Context& ctx) const {
    const Array y = nn::relu(norm1(conv1(x), ctx));
    return nn::relu(norm2(conv2(y), ctx) + (shortcut ? (*shortcut)(x) : x));
  }
};

struct ResNet {
  nn::Conv2d stem;
  nn::BatchNorm norm;
  std::vector<Block> blocks;
  nn::Linear head;

  static ResNet init(const sp::Key& key) {
    const auto [k1, k2, k3, k4, k5] = sp::random::split<5>(key);
    return {conv(k1, 1, 16, 3),
            nn::BatchNorm::init(16),
            {Block::init(k2, 16, 16, 1), Block::init(k3, 16, 32, 2), Block::init(k4, 32, 64, 2)},
            nn::Linear::init(k5, 64, 10)};
  }
  Array operator()(const Array& images, nn::Context& ctx) const {  // f32[n, 1, 8, 8] -> f32[n, 10]
    Array x = nn::relu(norm(stem(images), ctx));
    for (const Block& block : blocks) x = block(x, ctx);
    return head(sp::mean(x, {2, 3}));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 8);
  const auto [train, unseen] = load_digits();
  ResNet net = ResNet::init(sp::Key(0));
  const auto evaluate = [](const ResNet& n, const Array& images) {
    nn::Context ctx;
    return n(images, ctx);
  };
  std::printf("%lld parameters\n", static_cast<long long>(nn::count(net)));

  const auto batches = sp::data::batches(
      train,
      {.batch_size = 64, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)});
  const auto optimizer =
      sp::optim::sgd({.learning_rate = sp::optim::cosine_onecycle_schedule(batches.size(), 0.1),
                      .momentum = 0.9,
                      .nesterov = true,
                      .weight_decay = 5e-4});
  auto state = optimizer.init(net);
  const auto step = sp::jit([&](const ResNet& n, const auto& s, const Digits& batch) {
    const auto loss = [&](const ResNet& m) {
      nn::Context ctx{.training = true};
      const Array value = nn::cross_entropy(m(batch.images, ctx), batch.labels);
      return std::pair{value, ctx.updated(m)};
    };
    const auto [out, grads] = sp::value_and_grad(loss)(n);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{sp::optim::apply_updates(out.second, updates), next, out.first};
  });
  const auto judge = sp::jit([&](const ResNet& n, const Digits& d) {
    return nn::accuracy(evaluate(n, d.images), d.labels);
  });

  sp::io::Progress progress({.steps = batches.size(), .per_epoch = batches.per_epoch()});
  nn::Mean mean = nn::Mean::zero();
  for (const auto& batch : batches) {
    Array value;
    std::tie(net, state, value) = step(std::move(net), std::move(state), batch.examples);
    mean = mean.add(value);
    progress.step({{"loss", value.item<float>()}});
    if (batch.index + 1 < batches.per_epoch()) continue;
    std::printf("epoch %lld  loss %.4f  right on unseen digits %.3f\n",
                static_cast<long long>(batch.epoch + 1), mean.value().item<double>(),
                judge(net, unseen).item<float>());
    mean = nn::Mean::zero();
  }
  progress.finish();
  return judge(net, unseen).item<float>() >= 0.95f ? 0 : 1;
}
