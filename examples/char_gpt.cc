// SPDX-License-Identifier: Apache-2.0
// A small GPT (Radford et al. 2019) that learns a text character by character and goes on from its
// beginning:
//
//   char_gpt --text plays.txt --steps 2000
//
// A character is sampled from what the layers keep of those before it, their keys and values. Exits
// 0 if it has learned more than how often each character occurs, and writes the same text without
// what is kept.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <span>
#include <vector>

#include "arguments.h"
#include "seconds.h"
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
    return beside(x, out(sp::swapaxes(seen, 1, 2).reshape({n, t, width})));
  }
  // The same of the next steps f32[n, t, width] alone; the cache has what they need of those
  // before, and takes theirs.
  Array decode(const Array& x, nn::KeyValueCache& cache) const {
    const nn::DecodeResult seen = attention().decode(norm1(x), cache);
    cache = seen.cache;
    return beside(x, seen.output);
  }
  // The same weights as a layer, which has a cache.
  nn::MultiheadAttention attention() const { return {qkv.weight, qkv.bias, out, heads, 0, true}; }

  Array beside(const Array& x, const Array& attended) const {
    const Array y = x + attended;
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

  // Without steps, for one text of up to `context` characters.
  std::vector<nn::KeyValueCache> empty_caches() const {
    std::vector<nn::KeyValueCache> out;
    for (const Block& block : blocks)
      out.push_back(block.attention().init_cache(1, places.shape(0)));
    return out;
  }
  // What comes behind the next ids i32[1, t]: f32[characters].
  Array decode(const Array& ids, std::vector<nn::KeyValueCache>& caches) const {
    const Array at = caches[0].length + sp::arange(ids.shape(1), sp::int32);
    Array x = tokens(ids) + sp::take(places, at, 0);
    for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i].decode(x, caches[i]);
    return head(norm(x))[{0, -1}];
  }
};

Array loss(const Gpt& net, const Array& text) {  // i32[n, t + 1]
  const Array in = text[{sp::slice(), sp::slice(0, -1)}];
  const Array next = text[{sp::slice(), sp::slice(1, sp::none)}];
  const Array logits = net(in);
  return nn::cross_entropy(logits.reshape({-1, logits.shape(2)}), next.reshape({-1}));
}

// Goes on from a text by `count` characters. next(window, number, is_new) gives each: the window is
// up to `context` characters of the end, and begins anew with half of them where it is full.
template <class Next>
std::vector<int32_t> continued(std::vector<int32_t> text, int64_t count, int64_t context,
                               const Next& next) {
  size_t from = 0;
  bool is_new = true;
  for (int64_t i = 0; i < count; ++i, is_new = false) {
    if (text.size() - from > static_cast<size_t>(context)) {
      from = text.size() - static_cast<size_t>(context / 2);
      is_new = true;
    }
    text.push_back(next(std::span<const int32_t>(text).subspan(from), i, is_new));
  }
  return text;
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

  // One character at a time: by the whole window, or by what is new in it and the cache.
  const auto key_of = [](int64_t i) { return sp::random::fold_in(sp::Key(5), i); };
  const auto by_window =
      sp::jit([](const Gpt& n, const Array& window, const Array& at, const sp::Key& key) {
        return sp::random::categorical(key, sp::take(n(window)[0], at, 0) / 0.8f);
      });
  const auto by_cache = sp::jit([](const Gpt& n, std::vector<nn::KeyValueCache> caches,
                                   const Array& ids, const sp::Key& key) {
    const Array logits = n.decode(ids, caches);
    return std::pair{sp::random::categorical(key, logits / 0.8f), caches};
  });
  const auto next_by_window = [&](std::span<const int32_t> window, int64_t i, bool) {
    std::vector<int32_t> padded(window.begin(), window.end());
    padded.resize(static_cast<size_t>(context));
    const auto at = static_cast<int32_t>(window.size() - 1);
    return by_window(net, sp::array(padded).reshape({1, context}), sp::array(at), key_of(i))
        .item<int32_t>();
  };
  std::vector<nn::KeyValueCache> caches;
  const auto next_by_cache = [&](std::span<const int32_t> window, int64_t i, bool is_new) {
    if (is_new) caches = net.empty_caches();
    const auto seen = is_new ? window : window.last(1);
    const Array next_ids = sp::array(std::vector(seen.begin(), seen.end())).reshape({1, -1});
    Array drawn;
    std::tie(drawn, caches) = by_cache(net, std::move(caches), next_ids, key_of(i));
    return drawn.item<int32_t>();
  };
  const std::vector<int32_t> begin = ids[sp::slice(0, 8)].to_vector<int32_t>();
  const auto timed = [&](const auto& next) {
    continued(begin, 200, context, next);  // compiles
    const double start = seconds();
    return std::pair{continued(begin, 200, context, next), seconds() - start};
  };
  const auto [text_by_cache, cached] = timed(next_by_cache);
  const auto [text_by_window, whole] = timed(next_by_window);
  std::printf("%s\n", characters.decode(sp::array(text_by_cache)).c_str());
  const bool same = text_by_cache == text_by_window;
  std::printf("%s by whole windows, which takes %.1f times as long (%.0f ms for 200 characters)\n",
              same ? "the same text" : "another text", whole / cached, 1e3 * whole);
  return same && nats < without ? 0 : 1;
}
