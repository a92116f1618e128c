// SPDX-License-Identifier: Apache-2.0
// A diffusion model (Ho et al. 2020, https://arxiv.org/abs/2006.11239) of the digits of the
// project: a net learns which noise was added to a picture, and pictures are made out of noise by
// taking it away again, a hundred steps in one scan. It writes diffusion.png: digits that there
// never were.
//
//   diffusion --epochs 1000 --out diffusion.png
//
// Exits 0 if what it makes is closer to some digit than the digits' own mean is, by far.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"
#include "digits.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kPixels = 64, kSteps = 100, kWidth = 512;

struct Denoiser {
  nn::Linear in, time, a, b, out;

  static Denoiser init(const sp::Key& key) {
    const auto k = sp::random::split<5>(key);
    return {nn::Linear::init(k[0], kPixels, kWidth), nn::Linear::init(k[1], 32, kWidth),
            nn::Linear::init(k[2], kWidth, kWidth), nn::Linear::init(k[3], kWidth, kWidth),
            nn::Linear::init(k[4], kWidth, kPixels)};
  }
  // The noise in x f32[n, 64] after t i32[n] steps.
  Array operator()(const Array& x, const Array& t) const {
    const Array when = sp::take(nn::sinusoidal_encoding(kSteps, 32), t, 0);
    Array h = in(x) + time(when);
    h = h + a(nn::silu(h));
    h = h + b(nn::silu(h));
    return out(nn::silu(h));
  }
};

// What is left of a picture's variance after each number of steps, f32[kSteps], and the share of
// each step: the cosine schedule of Nichol and Dhariwal 2021.
struct Noise {
  Array left, share;
};
Noise schedule() {
  const Array t = sp::arange(kSteps + 1).astype(sp::float32) / static_cast<float>(kSteps);
  const Array level = sp::square(sp::cos((t + 0.008f) / 1.008f * 1.5707963f));
  const Array kept = level[sp::slice(1, sp::none)] / level[sp::slice(0, kSteps)];
  const Array share = sp::minimum(1.0f - kept, 0.999f);
  return {sp::cumprod(1.0f - share, 0), share};
}

Array loss(const Denoiser& net, const Noise& noise, const Array& images, const sp::Key& key) {
  const auto [k1, k2] = sp::random::split<2>(key);
  const Array t = sp::random::randint(k1, {images.shape(0)}, 0, kSteps);
  const Array added = sp::random::normal(k2, images.shape());
  const Array left = sp::expand_dims(sp::take(noise.left, t, 0), 1);
  return nn::mse_loss(net(sp::sqrt(left) * images + sp::sqrt(1.0f - left) * added, t), added);
}

// n pictures out of noise: f32[n, 64].
Array made(const Denoiser& net, const Noise& noise, const sp::Key& key, int64_t n) {
  const auto step = [&](const Array& x, const Array& t) {
    const Array share = sp::take(noise.share, t, 0), left = sp::take(noise.left, t, 0);
    const Array found = net(x, sp::broadcast_to(t, {n}));
    // The picture that this noise leaves, within the range of pictures, and the step towards it.
    const Array guess = sp::clip((x - sp::sqrt(1.0f - left) * found) / sp::sqrt(left), -1.0f, 1.0f);
    const Array before = left / (1.0f - share);
    const Array mean =
        (sp::sqrt(before) * share * guess + sp::sqrt(1.0f - share) * (1.0f - before) * x) /
        (1.0f - left);
    const Array spread = sp::sqrt(share * (1.0f - before) / (1.0f - left));
    const Array fresh = sp::random::normal(sp::random::fold_in(key, t), {n, kPixels});
    return std::pair{mean + spread * sp::where(t > 0, fresh, 0.0f), sp::none};
  };
  const Array start = sp::random::normal(sp::random::fold_in(key, kSteps), {n, kPixels});
  return sp::scan(step, start, sp::arange(kSteps), {.reverse = true}).first;
}

// The mean distance to the nearest of the digits.
float distance(const Array& x, const Array& digits) {
  const Array gap = sp::expand_dims(x, 1) - sp::expand_dims(digits, 0);
  return sp::mean(sp::min(sp::sqrt(sp::sum(sp::square(gap), -1)), 1)).item<float>();
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 1000);
  const std::string out = text_argument(argc, argv, "--out", "diffusion.png");
  const auto flat = [](const Digits& d) { return 2.0f * nn::flatten(d.images) - 1.0f; };
  const auto [seen, rest] = load_digits();
  const Array train = flat(seen), unseen = flat(rest);
  const Noise noise = schedule();

  Denoiser net = Denoiser::init(sp::Key(0)), average = net;
  const auto batches = sp::data::batches(
      train,
      {.batch_size = 128, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)});
  const auto optimizer =
      sp::optim::adam({.learning_rate = sp::optim::cosine_decay_schedule(2e-3, batches.size())});
  auto state = optimizer.init(net);
  // The pictures are made by a running mean of the weights.
  const auto step = sp::jit([&](const Denoiser& n, const Denoiser& mean, const auto& s,
                                const Array& images, const sp::Key& key) {
    const auto [value, grads] = sp::value_and_grad(loss)(n, noise, images, key);
    const auto [updates, next] = optimizer.update(grads, s, n);
    const Denoiser after = sp::optim::apply_updates(n, updates);
    const Denoiser slow = sp::tree::map(
        [](const Array& m, const Array& w) { return 0.99f * m + 0.01f * w; }, mean, after);
    return std::tuple{after, slow, next, value};
  });
  sp::io::Progress progress({.steps = batches.size(), .per_epoch = batches.per_epoch()});
  nn::Mean mean = nn::Mean::zero();
  const int64_t quarter = std::max<int64_t>(1, epochs / 4);
  for (const auto& batch : batches) {
    Array value;
    std::tie(net, average, state, value) =
        step(std::move(net), std::move(average), std::move(state), batch.examples,
             sp::random::fold_in(sp::Key(3), batch.step));
    mean = mean.add(value);
    progress.step({{"error", value.item<float>()}});
    if (batch.index + 1 < batches.per_epoch() || (batch.epoch + 1) % quarter != 0) continue;
    std::printf("epoch %3lld  error of the noise %.3f\n", static_cast<long long>(batch.epoch + 1),
                mean.value().item<double>());
    mean = nn::Mean::zero();
  }
  progress.finish();

  const Array pictures = sp::jit([&](const Denoiser& n, const sp::Key& key) {
    return made(n, noise, key, 48);
  })(average, sp::Key(4));
  const Array middle = sp::mean(train, 0, {.keepdims = true});
  const float of_made = distance(pictures, train), of_unseen = distance(unseen, train),
              of_middle = distance(middle, train);
  std::printf("distance to the nearest digit: %.2f made, %.2f unseen ones, %.2f their mean\n",
              of_made, of_unseen, of_middle);
  sp::data::save_png(out, sp::data::image_grid(pictures.reshape({48, 8, 8}),
                                               {.columns = 12, .scale = 4, .low = -1, .high = 1}));
  std::printf("%s: digits that it made\n", out.c_str());
  return of_made < 0.5f * (of_unseen + of_middle) ? 0 : 1;
}
