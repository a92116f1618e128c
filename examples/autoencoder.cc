// SPDX-License-Identifier: Apache-2.0
// A convolutional autoencoder: digits through eight numbers and back, by convolutions and their
// transposes. It is held against the best linear one, the principal components, which L-BFGS finds.
// It writes autoencoder.png: digits, below them what the net makes of them, and the linear one.
//
//   autoencoder --epochs 40 --out autoencoder.png
//
// Exits 0 if its error on unseen digits is below nine tenths of the linear one's.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"
#include "digits.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kCodes = 8;

struct Autoencoder {
  nn::Conv2d down1, down2;
  nn::Linear code, back;
  nn::ConvTranspose2d up1, up2;

  static Autoencoder init(const sp::Key& key) {
    const auto k = sp::random::split<6>(key);
    return {nn::Conv2d::init(k[0], 1, 16, 3, {.stride = 2, .padding = 1}),
            nn::Conv2d::init(k[1], 16, 32, 3, {.stride = 2, .padding = 1}),
            nn::Linear::init(k[2], 128, kCodes),
            nn::Linear::init(k[3], kCodes, 128),
            nn::ConvTranspose2d::init(k[4], 32, 16, 4, {.stride = 2, .padding = 1}),
            nn::ConvTranspose2d::init(k[5], 16, 1, 4, {.stride = 2, .padding = 1})};
  }
  Array encode(const Array& images) const {  // f32[n, 1, 8, 8] -> f32[n, kCodes]
    return code(nn::flatten(nn::gelu(down2(nn::gelu(down1(images))))));
  }
  Array decode(const Array& codes) const {
    const Array small = nn::gelu(back(codes)).reshape({-1, 32, 2, 2});
    return nn::sigmoid(up2(nn::gelu(up1(small))));
  }
};

// Two matrices, as good as the principal components once the error is as small as it can be.
struct Linear {
  nn::Linear code, back;
  Array operator()(const Array& images) const {
    return back(code(nn::flatten(images))).reshape(images.shape());
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 40);
  const std::string out = text_argument(argc, argv, "--out", "autoencoder.png");
  const auto [seen, rest] = load_digits();
  const Array train = seen.images, unseen = rest.images;

  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(0));
  const auto linear_error = [&](const Linear& l) { return nn::mse_loss(l(train), train); };
  const auto found = sp::minimize(
      linear_error, Linear{nn::Linear::init(k1, 64, kCodes), nn::Linear::init(k2, kCodes, 64)},
      {.max_steps = 300});
  const float linear = nn::mse_loss(found.params(unseen), unseen).item<float>();
  std::printf("linear, %d steps of L-BFGS: error %.4f on unseen digits\n",
              found.steps.item<int32_t>(), linear);

  Autoencoder net = Autoencoder::init(k3);
  const auto batches = sp::data::batches(
      train,
      {.batch_size = 64, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)});
  const auto optimizer =
      sp::optim::adam({.learning_rate = sp::optim::cosine_decay_schedule(4e-3, batches.size())});
  auto state = optimizer.init(net);
  const auto error = [](const Autoencoder& n, const Array& images) {
    return nn::mse_loss(n.decode(n.encode(images)), images);
  };
  const auto step = sp::jit([&](const Autoencoder& n, const auto& s, const Array& images) {
    const auto [value, grads] = sp::value_and_grad(error)(n, images);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{sp::optim::apply_updates(n, updates), next, value};
  });
  sp::io::Progress progress({.steps = batches.size(), .per_epoch = batches.per_epoch()});
  for (const auto& batch : batches) {
    Array value;
    std::tie(net, state, value) = step(std::move(net), std::move(state), batch.examples);
    progress.step({{"error", value.item<float>()}});
  }
  progress.finish();
  const float after = error(net, unseen).item<float>();
  std::printf("convolutional:              error %.4f\n", after);

  const Array some = unseen[sp::slice(12)];
  const Array sheet = sp::concatenate({some, net.decode(net.encode(some)), found.params(some)}, 0);
  sp::data::save_png(out, sp::data::image_grid(sp::squeeze(sheet, 1), {.columns = 12, .scale = 4}));
  std::printf("%s: digits, what the net makes of them, and the linear one\n", out.c_str());
  return after < 0.9f * linear ? 0 : 1;
}
