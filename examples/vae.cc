// SPDX-License-Identifier: Apache-2.0
// A variational autoencoder (Kingma and Welling 2014) of the digits of the project. It writes
// vae.png: digits, below them what becomes of them, and digits that it makes up.
//
//   vae --epochs 60 --out vae.png
//
// Exits 0 if the bound of the log-likelihood on unseen digits has grown by a third at least.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kPixels = 64, kCodes = 8;

struct Vae {
  nn::Linear in, mean, log_variance, up, out;

  static Vae init(const sp::Key& key) {
    const auto k = sp::random::split<5>(key);
    return {nn::Linear::init(k[0], kPixels, 128), nn::Linear::init(k[1], 128, kCodes),
            nn::Linear::init(k[2], 128, kCodes), nn::Linear::init(k[3], kCodes, 128),
            nn::Linear::init(k[4], 128, kPixels)};
  }
  Array decode(const Array& code) const { return out(nn::relu(up(code))); }  // logits of pixels
};

// The negative bound for one picture, f32[64] in 0 .. 1; vmap maps it over batches, with a key
// each.
Array loss_of_one(const Vae& vae, const Array& image, const sp::Key& key) {
  const Array h = nn::relu(vae.in(image)), mean = vae.mean(h), log_variance = vae.log_variance(h);
  const Array code = mean + sp::exp(0.5f * log_variance) * sp::random::normal(key, {kCodes});
  const Array logits = vae.decode(code);
  const Array missed = sp::sum(nn::softplus(logits) - image * logits);  // binary cross entropy
  const Array divergence =
      0.5f * sp::sum(sp::square(mean) + sp::exp(log_variance) - 1.0f - log_variance);
  return missed + divergence;
}

Array loss(const Vae& vae, const Array& images, const sp::Key& key) {
  const sp::Key keys = sp::random::split(key, images.shape(0));
  return sp::mean(sp::vmap(loss_of_one, {.in_axes = {sp::none, 0, 0}})(vae, images, keys));
}

// Rows of pictures f32[rows, columns, 64] as one, each pixel four times as large.
Array grid(const Array& rows) {
  const int64_t r = rows.shape(0), c = rows.shape(1);
  const Array tiles = sp::pad(rows.reshape({r, c, 8, 8}), {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  const Array sheet = sp::swapaxes(tiles, 1, 2).reshape({r * 10, c * 10});
  return (255.0f * sp::repeat(sp::repeat(sheet, 4, 0), 4, 1)).astype(sp::uint8);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 60);
  const std::string out = text_argument(argc, argv, "--out", "vae.png");
  const sp::data::CsvTable table =
      sp::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false});
  const Array images = table.matrix()[{sp::slice(), sp::slice(0, kPixels)}] / 16.0f;
  const auto parts = sp::data::split(images, {0.9, 0.1}, sp::Key(1));

  Vae vae = Vae::init(sp::Key(0));
  const auto optimizer = sp::optim::adam({.learning_rate = 2e-3});
  auto state = optimizer.init(vae);
  const auto step = sp::jit([&](const Vae& v, const auto& s, const Array& x, const sp::Key& key) {
    const auto [value, grads] = sp::value_and_grad(loss)(v, x, key);
    const auto [updates, next] = optimizer.update(grads, s, v);
    return std::tuple{sp::optim::apply_updates(v, updates), next, value};
  });
  const auto bound = [&] { return loss(vae, parts[1], sp::Key(9)).item<float>(); };
  const float before = bound();
  std::printf("before: %.2f nats for an unseen digit\n", before);
  const auto batches = sp::data::batches(
      parts[0],
      {.batch_size = 64, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)});
  sp::io::Progress progress({.steps = batches.size(), .per_epoch = batches.per_epoch()});
  for (const auto& batch : batches) {
    Array value;
    std::tie(vae, state, value) = step(std::move(vae), std::move(state), batch.examples,
                                       sp::random::fold_in(sp::Key(3), batch.step));
    progress.step({{"nats", value.item<float>()}});
  }
  progress.finish();
  const float after = bound();
  std::printf("after:  %.2f nats\n", after);

  const Array some = parts[1][sp::slice(0, 12)];
  const Array again = nn::sigmoid(vae.decode(vae.mean(nn::relu(vae.in(some)))));
  const Array made_up = nn::sigmoid(vae.decode(sp::random::normal(sp::Key(4), {12, kCodes})));
  sp::data::save_png(out, grid(sp::stack({some, again, made_up})));
  std::printf("%s: digits, what becomes of them, digits that are made up\n", out.c_str());
  return after < 0.67f * before ? 0 : 1;
}
