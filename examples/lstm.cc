// SPDX-License-Identifier: Apache-2.0
// An LSTM (Hochreiter and Schmidhuber 1997) that learns a text character by character and goes on
// from its beginning, one character at a time with its state handed on:
//
//   lstm --text plays.txt --steps 2000
//
// Exits 0 if it has learned more than how often each character occurs.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "text.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kWindow = 48;

struct Net {
  nn::Embedding letters;
  nn::LSTM lstm;
  nn::Linear out;

  static Net init(const sp::Key& key, int64_t characters, int64_t width) {
    const auto [k1, k2, k3] = sp::random::split<3>(key);
    return {nn::Embedding::init(k1, characters, 32),
            nn::LSTM::init(k2, 32, width, {.num_layers = 2, .batch_first = true, .dropout = 0.1f}),
            nn::Linear::init(k3, width, characters)};
  }
  // i32[n, t] -> logits f32[n, t, characters] of what comes next, and the state behind them.
  std::pair<Array, nn::LSTMState> operator()(const Array& ids, const nn::LSTMState& state,
                                             nn::Context& ctx) const {
    const auto [output, next] = lstm(letters(ids), state, ctx);
    return {out(output), next};
  }
};

// Of windows i32[n, kWindow + 1].
Array loss(const Net& net, const Array& text, nn::Context& ctx) {
  const Array logits = net(text[{sp::slice(), sp::slice(0, -1)}], {}, ctx).first;
  const Array next = text[{sp::slice(), sp::slice(1, sp::none)}];
  return nn::cross_entropy(logits.reshape({-1, logits.shape(2)}), next.reshape({-1}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = sp::data::load_text(
      text_argument(argc, argv, "--text", SPRUCE_EXAMPLE_DATA "/../docs/concepts.md"));
  const int64_t steps = number_argument(argc, argv, "--steps", 400);
  const sp::data::Characters characters(text);
  const Array ids = characters.encode(text);
  const int64_t train = ids.size() * 9 / 10;  // the last tenth is for judging
  const auto windows = [&](int64_t from, int64_t to) {
    return windows_of(ids, from, to, kWindow + 1, 32);
  };

  Net net = Net::init(sp::Key(0), characters.size(), number_argument(argc, argv, "--width", 128));
  const auto optimizer =
      sp::optim::chain(sp::optim::clip_by_global_norm(1), sp::optim::adam({.learning_rate = 4e-3}));
  auto state = optimizer.init(net);
  const auto step =
      sp::jit([&](const Net& n, const auto& s, const Array& batch, const sp::Key& key) {
        const auto training_loss = [&](const Net& m) {
          nn::Context ctx{.training = true, .key = key};
          return loss(m, batch, ctx);
        };
        const auto [value, grads] = sp::value_and_grad(training_loss)(n);
        const auto [updates, next] = optimizer.update(grads, s, n);
        return std::tuple{sp::optim::apply_updates(n, updates), next, value};
      });
  {
    sp::io::Progress progress({.steps = steps});
    nn::Mean mean = nn::Mean::zero();
    for (const auto& batch : windows(0, train)) {
      if (batch.step == steps) break;
      Array value;
      std::tie(net, state, value) = step(std::move(net), std::move(state), batch.examples,
                                         sp::random::fold_in(sp::Key(4), batch.step));
      mean = mean.add(value);
      progress.step({{"nats", value.item<float>()}});
      if ((batch.step + 1) % ((steps + 3) / 4) != 0) continue;
      std::printf("step %4lld  nats per character %.3f\n", static_cast<long long>(batch.step + 1),
                  mean.value().item<double>());
      mean = nn::Mean::zero();
    }
  }
  const auto judge = sp::jit([](const Net& n, const Array& batch) {
    nn::Context ctx;
    return loss(n, batch, ctx);
  });
  nn::Mean unseen = nn::Mean::zero();
  for (const auto& batch : windows(train, ids.size())) {
    if (batch.step == 10) break;
    unseen = unseen.add(judge(net, batch.examples));
  }
  const double nats = unseen.value().item<double>();

  const double without = nats_without_context(ids[sp::slice(0, train)], characters.size());
  std::printf("on the unseen last tenth: %.3f nats per character (without context %.3f)\n", nats,
              without);

  const auto next =
      sp::jit([](const Net& n, const Array& id, const nn::LSTMState& at, const sp::Key& key) {
        nn::Context ctx;
        const auto [logits, after] = n(id.reshape({1, 1}), at, ctx);
        return std::pair{sp::random::categorical(key, logits[{0, 0}] / 0.7f), after};
      });
  const int64_t width = net.out.weight.shape(1);
  nn::LSTMState at{sp::zeros({2, 1, width}), sp::zeros({2, 1, width})};
  Array id = ids[0];
  std::vector<int32_t> written{id.item<int32_t>()};
  for (int64_t i = 0; i < 200; ++i) {
    Array drawn;
    std::tie(drawn, at) = next(net, id, at, sp::random::fold_in(sp::Key(5), i));
    // It is told how the text begins.
    id = i < 7 ? ids[i + 1] : drawn;
    written.push_back(id.item<int32_t>());
  }
  std::printf("%s\n", characters.decode(sp::array(written)).c_str());
  return nats < without ? 0 : 1;
}
