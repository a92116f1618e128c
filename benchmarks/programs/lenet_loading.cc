// SPDX-License-Identifier: Apache-2.0
// How long the steps of LeNet-5 wait for batches that cost something to load: pictures that are
// read from PNG files, decoded, cut out at a random place and changed in brightness and contrast.
//
//   lenet_loading [--out FOLDER] [--pictures N] [--epochs N] [--ahead N]
//
// writes the pictures into the folder, trains once without a thread that loads ahead and once with
// `ahead` batches ahead, and prints for both the mean time of loading a batch, of a step, and of
// what a step waited for its batch (with the median and the longest), and the share of waiting in
// all. Operations use one thread, so that with two cores the other one is free for the loader;
// `taskset -c 0` shows what is left on one.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "benchmarks/measure.h"
#include "benchmarks/nets.h"
#include "examples/arguments.h"

namespace data = spruce::data;
namespace nn = spruce::nn;
namespace sp = spruce;
using bench::LeNet, sp::Array;

namespace {

constexpr int64_t kBatch = 64, kSide = 32;

// root/3/17.png: a bright bar whose place is the class, in noise.
void write_pictures(const std::string& root, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % 10;
    const std::string folder = root + "/" + std::to_string(label);
    std::filesystem::create_directories(folder);
    const Array noise = sp::random::uniform(sp::Key(i), {kSide, kSide, 1}) * 128.0f;
    const Array bar = noise.at(sp::slice(), sp::slice(3 * label, 3 * label + 3)).add(127.0f);
    data::save_png(folder + "/" + std::to_string(i) + ".png", bar.astype(sp::uint8));
  }
}

// u8[32, 32, 1] -> f32[1, 28, 28]
Array augmented(const sp::Key& key, const Array& pixels) {
  const auto k = sp::random::split<2>(key);
  const Array cut = data::random_crop(k[0], data::pixels_to_float(pixels), {28, 28});
  const Array image = data::color_jitter(k[1], cut, {.brightness = 0.2, .contrast = 0.2});
  return sp::transpose(data::normalize_image(image, 0.3f, 0.3f), {2, 0, 1});
}

double sum_of(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

double mean_ms(const std::vector<double>& x) {
  return 1e3 * sum_of(x) / static_cast<double>(x.size());
}

// Trains, and prints a line of times; the first step and the first batch, which compile, do not
// count.
void train(const data::ImageFolder& pictures, int64_t epochs, int64_t ahead) {
  std::vector<double> loading, steps, waits;  // in seconds
  const auto augment = sp::jit(sp::vmap(augmented));
  const auto load = [&](std::span<const int64_t> indices) {
    const auto begin = bench::Clock::now();
    data::LabelledImages batch = pictures.load(indices);
    const sp::Key key = sp::random::fold_in(sp::Key(1), indices[0]);
    batch.images = augment(sp::random::split(key, kBatch), batch.images);
    loading.push_back(bench::seconds_since(begin));
    return batch;
  };
  const auto optimizer = sp::optim::adam({.learning_rate = 1e-3});
  const auto step =
      sp::jit([&](const LeNet& net, const auto& state, const data::LabelledImages& batch) {
        const auto [value, grads] = sp::value_and_grad(
            [&](const LeNet& n) { return nn::cross_entropy(n(batch.images), batch.labels); })(net);
        const auto [updates, next] = optimizer.update(grads, state, net);
        return std::tuple{sp::optim::apply_updates(net, updates), next, value};
      });
  LeNet net = LeNet::init();
  auto state = optimizer.init(net);
  float loss = 0;
  {
    const auto run = data::batches_by(
        load, data::shuffled(pictures.size(), sp::Key(2)),
        {.batch_size = kBatch, .rest = data::Rest::kDrop, .epochs = epochs, .prefetch = ahead});
    for (auto batch = run.begin(); batch != run.end(); ++batch) {
      const auto begin = bench::Clock::now();
      Array value;
      std::tie(net, state, value) = step(std::move(net), std::move(state), batch->examples);
      loss = value.item<float>();  // the step has ended
      if (batch->step == 0) continue;
      steps.push_back(bench::seconds_since(begin));
      waits.push_back(batch.waited());
    }
  }
  loading.erase(loading.begin());
  std::sort(waits.begin(), waits.end());
  const double waited = sum_of(waits), all = waited + sum_of(steps);
  std::printf(
      "%5lld  %7.2f ms  %7.2f ms  %8.3f ms  %8.3f ms  %8.3f ms  %6.2f %%  %6.2f s  loss %.3f\n",
      static_cast<long long>(ahead), mean_ms(loading), mean_ms(steps), mean_ms(waits),
      1e3 * waits[waits.size() / 2], 1e3 * waits.back(), 100 * waited / all, all,
      static_cast<double>(loss));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = text_argument(argc, argv, "--out", "lenet_loading_run");
  const int64_t count = number_argument(argc, argv, "--pictures", 2560);
  const int64_t epochs = number_argument(argc, argv, "--epochs", 5);
  const int64_t ahead = number_argument(argc, argv, "--ahead", 2);
  const int cores = sp::threads();
  sp::set_threads(1);
  write_pictures(folder, count);
  const data::ImageFolder pictures = data::image_folder(folder, {.channels = 1});
  std::printf("%lld pictures, %lld epochs, batches of %lld, cores: %d\n",
              static_cast<long long>(pictures.size()), static_cast<long long>(epochs),
              static_cast<long long>(kBatch), cores);
  std::printf(
      "ahead     loading       step      waited       median      longest     share     all\n");
  for (const int64_t n : {int64_t{0}, ahead}) train(pictures, epochs, n);
  return 0;
}
