// SPDX-License-Identifier: Apache-2.0
// A small AlexNet (Krizhevsky et al. 2012) as a stateful module, with circular padding and adaptive
// pooling, so that it takes pictures of any size. A compiled step trains it; then it becomes
// a pure function, for what only functions can do: the gradient of each example by vmap.
//
//   alexnet --epochs 20
//
// Exits 0 if nine in ten of the unseen digits are read right, and most of them at 12 x 12 pixels.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <iostream>

#include "arguments.h"
#include "digits.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct AlexNet : nn::Module {
  explicit AlexNet(const sp::Key& key) {
    const auto k = sp::random::split<7>(key);
    conv1 = register_module("conv1", circular(k[0], 1, 32));
    conv2 = register_module("conv2", circular(k[1], 32, 48));
    conv3 = register_module("conv3", circular(k[2], 48, 64));
    conv4 = register_module("conv4", circular(k[3], 64, 48));
    pool = register_module("pool", nn::AdaptiveAvgPool2d{2});
    drop = register_module("drop", nn::Dropout{0.2f});
    fc1 = register_module("fc1", nn::Linear::init(k[4], 4 * 48, 96));
    fc2 = register_module("fc2", nn::Linear::init(k[5], 96, 96));
    fc3 = register_module("fc3", nn::Linear::init(k[6], 96, 10));
  }
  Array forward(const Array& images) override {  // f32[n, 1, h, w] -> f32[n, 10]
    Array x = nn::max_pool2d(nn::relu(conv2(nn::relu(conv1(images)))), 2);
    x = nn::flatten(pool(nn::relu(conv4(nn::relu(conv3(x))))));
    return fc3(nn::relu(fc2(drop(nn::relu(fc1(drop(x)))))));
  }
  nn::Stateful<nn::Conv2d> conv1, conv2, conv3, conv4;
  nn::Stateful<nn::AdaptiveAvgPool2d> pool;
  nn::Stateful<nn::Dropout> drop;
  nn::Stateful<nn::Linear> fc1, fc2, fc3;

 private:
  static nn::Conv2d circular(const sp::Key& key, int64_t in, int64_t out) {
    return nn::Conv2d::init(key, in, out, 3,
                            {.padding = 1, .padding_mode = nn::PaddingMode::kCircular});
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 20);
  const auto [train, unseen] = load_digits();
  AlexNet net{sp::Key(0)};
  net.seed(sp::Key(3));  // of dropout
  std::cout << net << "\n";

  auto step = nn::compile_step(net, sp::optim::adam({.learning_rate = 2e-3}),
                               [](AlexNet& n, const Digits& batch) {
                                 return nn::cross_entropy(n(batch.images), batch.labels);
                               });
  const auto batches = sp::data::batches(
      train,
      {.batch_size = 64, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)});
  sp::io::Progress progress({.steps = batches.size(), .per_epoch = batches.per_epoch()});
  for (const auto& batch : batches) progress.step({{"loss", step(batch.examples).item<float>()}});
  progress.finish();

  net.eval();
  const auto right = [&](const Array& images) {
    return nn::accuracy(net(images), unseen.labels).item<float>();
  };
  const float whole = right(unseen.images);
  const float larger = right(
      nn::interpolate(unseen.images, {.size = {12, 12}, .mode = nn::InterpolateMode::kBilinear}));
  std::printf("right on unseen digits %.3f, of the same at 12 x 12 pixels %.3f\n", whole, larger);

  // The module as a function of its parameters: how hard each example pulls at them.
  const auto f = nn::functionalize(net);
  const auto loss = [&](const sp::NamedArrays& params, const Digits& one) {
    const Array logits = f.apply(params, f.buffers, {}, sp::expand_dims(one.images, 0)).first;
    return nn::cross_entropy(logits, sp::expand_dims(one.labels, 0));
  };
  const auto pull = [&](const Digits& one) {
    return sp::optim::global_norm(sp::grad(loss)(f.params, one));
  };
  const Array norms = sp::jit(sp::vmap(pull))(unseen);
  const Array hardest = sp::argsort(-norms)[sp::slice(3)];
  const Array taken = sp::argmax(net(unseen.images), -1);
  for (const auto i : hardest.astype(sp::int64).to_vector<int64_t>()) {
    std::printf("example %3lld pulls with %6.2f: a %d, taken for a %d\n", static_cast<long long>(i),
                norms[i].item<float>(), unseen.labels[i].item<int32_t>(),
                taken[i].astype(sp::int32).item<int32_t>());
  }
  return whole > 0.9f && larger > 0.5f ? 0 : 1;
}
