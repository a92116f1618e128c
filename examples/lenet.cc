// SPDX-License-Identifier: Apache-2.0
// LeNet-5 (LeCun et al. 1998) on files in the format of MNIST:
//
//   lenet --images train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz --epochs 10
//
// Without files it makes some of the digits of the project, 28 x 28 pixels each. The last tenth of
// the set is kept for judging. Checkpoints, a log as CSV, TensorBoard's events and a picture of the
// confusion matrix go to the folder --out; run it again to go on where it was stopped. Batches are
// made on a thread, --prefetch of them ahead; with 0, between the steps. Exits 0 if nine of ten
// unseen digits are right, and where files are given 97 of 100.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "arguments.h"
#include "seconds.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct LeNet {
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;

  static LeNet init(const sp::Key& key) {
    const auto k = sp::random::split<5>(key);
    return {nn::Conv2d::init(k[0], 1, 6, 5, {.padding = 2}), nn::Conv2d::init(k[1], 6, 16, 5),
            nn::Linear::init(k[2], 400, 120), nn::Linear::init(k[3], 120, 84),
            nn::Linear::init(k[4], 84, 10)};
  }
  Array operator()(const Array& images) const {  // f32[n, 1, 28, 28] -> f32[n, 10]
    const Array x = nn::max_pool2d(nn::relu(conv1(images)), 2);
    const Array y = nn::max_pool2d(nn::relu(conv2(x)), 2);
    return fc3(nn::relu(fc2(nn::relu(fc1(y.reshape({-1, 400}))))));
  }
};

struct Digits {
  Array images;  // u8[n, 28, 28]
  Array labels;  // u8[n]
};

// Bytes of an IDX file with an array u8[...].
void write_idx(const std::string& path, const Array& x) {
  std::string head{0, 0, 8, static_cast<char>(x.rank())};
  for (int axis = 0; axis < x.rank(); ++axis) {
    for (const int shift : {24, 16, 8, 0}) head += static_cast<char>(x.shape(axis) >> shift);
  }
  std::ofstream out(path, std::ios::binary);
  out << head;
  const auto bytes = x.data<uint8_t>();
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// The digits of the project, 8 x 8 pixels, three times as large, with a margin.
void make_files(const std::string& images, const std::string& labels) {
  const sp::data::CsvTable table =
      sp::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false});
  const Array all = table.matrix({}, sp::float32);
  Array pixels = all[{sp::ellipsis, sp::slice(0, 64)}].reshape({-1, 8, 8}) * (255.0f / 16);
  pixels = sp::repeat(sp::repeat(pixels, 3, 1), 3, 2);
  write_idx(images, sp::pad(pixels, {{0, 0}, {2, 2}, {2, 2}}).astype(sp::uint8));
  write_idx(labels, table.numbers("64", sp::uint8));
}

// From bytes to about mean 0 and deviation 1 over MNIST.
Array prepared(const Array& pixels) {
  return sp::expand_dims((sp::data::pixels_to_float(pixels) - 0.13f) / 0.31f, 1);
}

Array loss(const LeNet& net, const Digits& batch) {
  return nn::cross_entropy(net(prepared(batch.images)), batch.labels.astype(sp::int32));
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + static_cast<int64_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string out = text_argument(argc, argv, "--out", "lenet_run");
  std::filesystem::create_directories(out);
  std::string images = text_argument(argc, argv, "--images", ""),
              labels = text_argument(argc, argv, "--labels", "");
  const bool made = images.empty();
  if (made) {
    images = out + "/images-idx3-ubyte";
    labels = out + "/labels-idx1-ubyte";
    make_files(images, labels);
  }
  const Digits all{sp::io::load_idx(images), sp::io::load_idx(labels)};
  const int64_t count = all.labels.size() * 9 / 10;
  const sp::Index first = sp::slice(0, count), rest = sp::slice(count, sp::none);
  const Digits train{all.images[first], all.labels[first]},
      unseen{all.images[rest], all.labels[rest]};
  std::printf("%lld digits to learn from, %lld to be read unseen\n",
              static_cast<long long>(train.labels.size()),
              static_cast<long long>(unseen.labels.size()));

  const auto optimizer = sp::optim::adam({.learning_rate = 1e-3});
  struct Run {
    LeNet net;
    decltype(optimizer.init(LeNet())) state;
  };
  Run run{LeNet::init(sp::Key(0)), {}};
  run.state = optimizer.init(run.net);
  const auto step = sp::jit([&](const Run& r, const Digits& batch) {
    const auto [value, grads] = sp::value_and_grad(loss)(r.net, batch);
    const auto [updates, next] = optimizer.update(grads, r.state, r.net);
    return std::pair{Run{sp::optim::apply_updates(r.net, updates), next}, value};
  });
  const auto judge = sp::jit([](const LeNet& net, const Digits& d) {
    const Array taken = sp::argmax(net(prepared(d.images)), -1).astype(sp::int32);
    return nn::confusion_matrix(taken, d.labels.astype(sp::int32), 10);
  });

  sp::io::Checkpoints checkpoints(out + "/checkpoints", 2);
  int64_t done = 0;
  if (const auto last = checkpoints.restore(run)) {
    run = last->tree;
    done = last->step;
    std::printf("goes on at step %lld\n", static_cast<long long>(done));
  }
  sp::io::CsvLog log(out + "/log.csv", {.append = done > 0});
  sp::io::TensorBoard board(out);
  const int64_t epochs = number_argument(argc, argv, "--epochs", 10);
  const auto batches =
      sp::data::batches(train, {.batch_size = 64,
                                .rest = sp::data::Rest::kDrop,
                                .epochs = epochs,
                                .key = sp::Key(2),
                                .prefetch = number_argument(argc, argv, "--prefetch", 2),
                                .first_step = done});
  sp::io::Progress progress(
      {.steps = batches.size(), .per_epoch = batches.per_epoch(), .first_step = done});
  nn::Mean mean = nn::Mean::zero();
  std::vector<double> waited, worked;  // for batches, and in steps
  double asked = seconds();            // when the batch was
  for (const auto& batch : batches) {
    const double got = seconds();
    waited.push_back(got - asked);
    Array value;
    std::tie(run, value) = step(std::move(run), batch.examples);
    mean = mean.add(value);
    progress.step({{"loss", value.item<float>()}});
    asked = seconds();
    worked.push_back(asked - got);
    if (batch.index + 1 < batches.per_epoch()) continue;
    const Array matrix = judge(run.net, unseen);
    const sp::io::Metrics metrics = {
        {"loss", mean.value().item<double>()},
        {"recall", nn::recall_score(matrix, nn::Average::kMicro).item<float>()},
        {"f1", nn::f1_score(matrix).item<float>()}};
    mean = nn::Mean::zero();
    log.write(batch.step + 1, metrics);
    board.scalars(batch.step + 1, metrics);
    checkpoints.save(batch.step + 1, run);
    std::printf("epoch %lld  loss %.4f  right on unseen digits %.3f  F1 %.3f\n",
                static_cast<long long>(batch.epoch + 1), metrics[0].second, metrics[1].second,
                metrics[2].second);
    asked = seconds();
  }
  progress.finish();
  checkpoints.wait();
  std::printf("a step takes %.0f us and waits %.1f us for its batch (medians)\n",
              1e6 * median(worked), 1e6 * median(waited));
  const Array matrix = judge(run.net, unseen);
  sp::data::save_png(out + "/confusion.png", sp::data::matrix_image(matrix, {.title = "unseen"}));
  const float right = nn::recall_score(matrix, nn::Average::kMicro).item<float>();
  return (made ? right > 0.9f : right >= 0.97f) ? 0 : 1;
}
