// SPDX-License-Identifier: Apache-2.0
// Trains a small network on 8x8 handwritten digits with a pure, compiled step, then reads digits
// that it has never seen. Exits 0 if at least 0.96 of those are right. `--device cuda:0` runs it on
// a GPU.
#include <spruce/spruce.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.h"
#include "device.h"
#include "digits_csv.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int kPixels = 64;  // 8 x 8
constexpr int kTrain = 1408;
constexpr int kBatch = 128;
constexpr int kBatches = kTrain / kBatch;
constexpr int kEpochs = 20;
constexpr float kGoal = 0.96f;

struct Mlp {  // a model is a plain struct; its arrays are its parameters
  nn::Linear hidden;
  nn::Linear out;

  Array operator()(const Array& x) const { return out(nn::relu(hidden(x))); }
};

Array loss(const Mlp& model, const Array& x, const Array& labels) {
  return nn::cross_entropy(model(x), labels);
}

struct Digits {
  Array images;  // f32[n, 64], 0 is paper and 1 is ink
  Array labels;  // i32[n]
};

// Each line of the file has 64 grey levels from 0 to 16, then the label.
Digits read_digits(const char* at, const char* end) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  for (int column = 0; at < end; ++at) {  // `at` steps over the comma or the end of the line
    int value = 0;
    at = std::from_chars(at, end, value).ptr;
    if (column < kPixels) {
      pixels.push_back(static_cast<float>(value) / 16);
    } else {
      labels.push_back(value);
    }
    column = (column + 1) % (kPixels + 1);
  }
  const auto n = static_cast<int64_t>(labels.size());
  return {sp::array(pixels, {n, kPixels}), sp::array(labels, {n})};
}

float accuracy(const Mlp& model, const Digits& digits) {
  const Array hits = sp::equal(sp::argmax(model(digits.images), -1), digits.labels);
  return sp::mean(sp::astype(hits, sp::float32)).item<float>();
}

// A bar that grows in place in a terminal; in a file, a line now and then.
void show_progress(int done, float loss_value, float right) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (!terminal && done % 5 != 0) return;
  std::string bar;
  for (int i = 1; i <= kEpochs; ++i) bar += i <= done ? "█" : "░";
  std::printf("%s%s epoch %2d/%d  loss %.4f  accuracy on unseen digits %.3f%s",
              terminal ? "\r" : "", bar.c_str(), done, kEpochs, loss_value, right,
              !terminal || done == kEpochs ? "\n" : "");
  std::fflush(stdout);
}

// Draws the first `count` digits side by side, and below each what the network says it is.
void draw(const Mlp& model, const Digits& digits, int count) {
  const char* const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  const Array some = digits.images[sp::slice(0, count)];
  const Array probabilities = nn::softmax(model(some));
  const auto pixels = some.to_vector<float>();
  const auto labels = digits.labels.to_vector<int32_t>();
  const auto says = sp::astype(sp::argmax(probabilities, -1), sp::int32).to_vector<int32_t>();
  const auto sure = sp::max(probabilities, -1).to_vector<float>();

  for (int row = 0; row < 8; ++row) {
    for (int digit = 0; digit < count; ++digit) {
      for (int column = 0; column < 8; ++column) {
        const float ink = pixels[static_cast<size_t>(digit * kPixels + row * 8 + column)];
        std::printf("%s", shades[static_cast<int>(ink * 4 + 0.5f)]);
      }
      std::printf("   ");
    }
    std::printf("\n");
  }
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "%d (%.0f %%)%s", says[i], 100 * sure[i],
                  says[i] == labels[i] ? "" : " wrong");
    std::printf("%-19s", text);
  }
  std::printf("\n");
}

int run(const std::string& device) {
  const sp::DefaultDevice here(device_named(device));  // what is made from nothing is made there
  const Digits all = read_digits(digits_csv.data(), digits_csv.data() + digits_csv.size());
  const int64_t n = all.labels.shape()[0];
  const Array shuffled = sp::random::permutation(sp::Key(7), n);  // the file is sorted by writer
  const auto pick = [&](const Array& rows) {
    return Digits{sp::take(all.images, rows, 0), sp::take(all.labels, rows, 0)};
  };
  const Digits train = pick(shuffled[sp::slice(0, kTrain)]);
  const Digits unseen = pick(shuffled[sp::slice(kTrain, n)]);

  const auto [key, k1, k2] = sp::random::split<3>(sp::Key(42));
  Mlp model{.hidden = nn::Linear::init(k1, kPixels, 128), .out = nn::Linear::init(k2, 128, 10)};
  const auto optimizer = sp::optim::adamw({.learning_rate = 3e-3f});
  auto state = optimizer.init(model);

  // The whole step is a pure function: it takes a model and returns another one.
  const auto step =
      sp::jit([&](const Mlp& model, const auto& state, const Array& x, const Array& y) {
        const auto [value, grads] = sp::value_and_grad(loss)(model, x, y);
        const auto [updates, next] = optimizer.update(grads, state, model);
        return std::tuple{sp::optim::apply_updates(model, updates), next, value};
      });

  std::printf("%d digits to learn from, %d to be read unseen\n", kTrain,
              static_cast<int>(n - kTrain));
  Array value;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const Array order = sp::reshape(
        sp::random::permutation(sp::random::fold_in(key, epoch), kTrain), {kBatches, kBatch});
    for (int i = 0; i < kBatches; ++i) {
      const Array batch = order[i];
      std::tie(model, state, value) =
          step(std::move(model), std::move(state), sp::take(train.images, batch, 0),
               sp::take(train.labels, batch, 0));
    }
    show_progress(epoch + 1, value.item<float>(), accuracy(model, unseen));
  }

  std::printf("\nFive digits that it has never seen, and what it says they are:\n\n");
  draw(model, unseen, 5);
  const float right = accuracy(model, unseen);
  std::printf("\n%.1f %% of all unseen digits are read right (the goal is %.0f %%)\n", 100 * right,
              100 * kGoal);
  return right >= kGoal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(text_argument(argc, argv, "--device", "cpu"));
  } catch (const sp::DeviceError& e) {
    std::fprintf(stderr, "demo: %s\n", e.what());
    return 2;
  }
}
