// SPDX-License-Identifier: Apache-2.0
// A small GPT (Radford et al. 2019) that learns a text character by character and goes on from its
// beginning:
//
//   char_gpt --text plays.txt --steps 2000
//
// Exits 0 if it has learned more than how often each character occurs.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "arguments.h"
#include "text.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Block {
  nn::LayerNorm norm1, norm2;
  nn::Linear qkv, out, up, down;
  int64_t heads = 4;

  static Block init(const sp::Key& key, int64_t width, int64_t heads) {
    const auto k = sp::random::split<4>(key);
    return {nn::LayerNorm::init({width}),
            nn::LayerNorm::init({width}),
            nn::Linear::init(k[0], width, 3 * width),
            nn::Linear::init(k[1], width, width),
            nn::Linear::init(k[2], width, 4 * width),
            nn::Linear::init(k[3], 4 * width, width),
            heads};
  }
  Array operator()(const Array& x) const {  // f32[n, t, width]
    const int64_t n = x.shape(0), t = x.shape(1), width = x.shape(2);
    const Array parts = qkv(norm1(x)).reshape({n, t, 3, heads, width / heads});
    const auto part = [&](int i) {
      return sp::swapaxes(parts[{sp::slice(), sp::slice(), i}], 1, 2);  // f32[n, heads, t, d]
    };
    const Array seen =
        nn::scaled_dot_product_attention(part(0), part(1), part(2), {.is_causal = true});
    const Array y = x + out(sp::swapaxes(seen, 1, 2).reshape({n, t, width}));
    return y + down(nn::gelu(up(norm2(y))));
  }
};

struct Gpt {
  nn::Embedding tokens;
  Array places;  // f32[context, width]
  std::vector<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;

  static Gpt init(const sp::Key& key, int64_t characters, int64_t context, int64_t width,
                  int64_t layers) {
    const auto [k1, k2, k3, k4] = sp::random::split<4>(key);
    Gpt net{nn::Embedding::init(k1, characters, width),
            0.1f * sp::random::normal(k2, {context, width}),
            {},
            nn::LayerNorm::init({width}),
            nn::Linear::init(k3, width, characters)};
    net.tokens.weight = 0.1f * net.tokens.weight;
    for (int64_t i = 0; i < layers; ++i)
      net.blocks.push_back(Block::init(sp::random::fold_in(k4, i), width, 4));
    return net;
  }
  Array operator()(const Array& ids) const {  // i32[n, t] -> f32[n, t, characters]
    Array x = tokens(ids) + places[sp::slice(0, ids.shape(1))];
    for (const Block& block : blocks) x = block(x);
    return head(norm(x));
  }
};

Array loss(const Gpt& net, const Array& text) {  // i32[n, t + 1]
  const Array in = text[{sp::slice(), sp::slice(0, -1)}];
  const Array next = text[{sp::slice(), sp::slice(1, sp::none)}];
  const Array logits = net(in);
  return nn::cross_entropy(logits.reshape({-1, logits.shape(2)}), next.reshape({-1}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path =
      text_argument(argc, argv, "--text", SPRUCE_EXAMPLE_DATA "/../docs/concepts.md");
  const int64_t steps = number_argument(argc, argv, "--steps", 400);
  const int64_t context = number_argument(argc, argv, "--context", 64);
  const std::string text = sp::data::load_text(path);
  const sp::data::Characters characters(text);
  const Array ids = characters.encode(text);
  const int64_t train = ids.size() * 9 / 10;  // the last tenth is for judging
  const auto window = [&](int64_t from, int64_t to, int64_t batch) {
    return windows_of(ids, from, to, context + 1, batch);
  };
  std::printf("%lld characters, %lld different ones\n", static_cast<long long>(ids.size()),
              static_cast<long long>(characters.size()));

  Gpt net =
      Gpt::init(sp::Key(0), characters.size(), context, number_argument(argc, argv, "--width", 128),
                number_argument(argc, argv, "--layers", 4));
  const auto optimizer = sp::optim::chain(
      sp::optim::clip_by_global_norm(1),
      sp::optim::adamw(
          {.learning_rate = sp::optim::warmup_cosine_decay(0, 3e-3f, steps / 10 + 1, steps, 3e-4f),
           .weight_decay = 0.1,
           .mask = [](const std::string&, const Array& p) { return p.rank() > 1; }}));
  auto state = optimizer.init(net);
  const auto step = sp::jit([&](const Gpt& n, const auto& s, const Array& batch) {
    const auto [value, grads] = sp::value_and_grad(loss)(n, batch);
    const auto [updates, next] = optimizer.update(grads, s, n);
    return std::tuple{sp::optim::apply_updates(n, updates), next, value};
  });
  {
    sp::io::Progress progress({.steps = steps});
    nn::Mean mean = nn::Mean::zero();
    for (const auto& batch : window(0, train, 24)) {
      if (batch.step == steps) break;
      Array value;
      std::tie(net, state, value) = step(std::move(net), std::move(state), batch.examples);
      mean = mean.add(value);
      progress.step({{"nats", value.item<float>()}});
      if ((batch.step + 1) % ((steps + 3) / 4) != 0) continue;
      std::printf("step %4lld  nats per character %.3f\n", static_cast<long long>(batch.step + 1),
                  mean.value().item<double>());
      mean = nn::Mean::zero();
    }
  }
  nn::Mean unseen = nn::Mean::zero();
  const auto judge = sp::jit(loss);
  for (const auto& batch : window(train, ids.size(), 8)) {
    if (batch.step == 10) break;
    unseen = unseen.add(judge(net, batch.examples));
  }
  const double nats = unseen.value().item<double>();

  const double without = nats_without_context(ids[sp::slice(0, train)], characters.size());
  std::printf("on the unseen last tenth: %.3f nats per character (without context %.3f)\n", nats,
              without);

  // One character at a time, from the last `context` ones.
  const auto next =
      sp::jit([&](const Gpt& n, const Array& last, const Array& at, const sp::Key& key) {
        const Array logits = sp::take(n(last)[0], at, 0) / 0.8f;
        return sp::random::categorical(key, logits);
      });
  std::vector<int32_t> written = ids[sp::slice(0, 8)].to_vector<int32_t>();
  for (int64_t i = 0; i < 200; ++i) {
    const auto length = static_cast<int64_t>(written.size());
    const int64_t from = std::max<int64_t>(0, length - context);
    std::vector<int32_t> last(written.begin() + from, written.end());
    const auto at = static_cast<int32_t>(last.size() - 1);
    last.resize(static_cast<size_t>(context));
    const Array window_ids = sp::array(last).reshape({1, context});
    written.push_back(
        next(net, window_ids, sp::array(at), sp::random::fold_in(sp::Key(5), i)).item<int32_t>());
  }
  std::printf("%s\n", characters.decode(sp::array(written)).c_str());
  return nats < without ? 0 : 1;
}
