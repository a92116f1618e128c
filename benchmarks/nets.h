// SPDX-License-Identifier: Apache-2.0
// Networks of the rows, with the parameters that JAX's keys give.
#pragma once

#include "benchmarks/bench.h"

namespace bench {

/// Fully connected layers with an activation between them.
struct Mlp {
  std::vector<nn::Linear> layers;

  /// Layer i from the i-th of split(key, number of layers + 1).
  static Mlp init(const std::vector<int64_t>& sizes, int64_t seed = 0) {
    const sp::Key keys = sp::random::split(sp::Key(seed), static_cast<int64_t>(sizes.size()));
    Mlp net;
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      net.layers.push_back(nn::Linear::init(keys[static_cast<int64_t>(i)], sizes[i], sizes[i + 1]));
    }
    return net;
  }

  template <class Act>
  Array operator()(Array x, const Act& act) const {
    for (size_t i = 0; i + 1 < layers.size(); ++i) x = act(layers[i](x));
    return layers.back()(x);
  }
};

/// LeNet over f32[n, 1, 28, 28].
struct LeNet {
  nn::Conv2d a, b;
  nn::Linear c, d, e;

  static LeNet init() {
    const sp::Key k = sp::random::split(sp::Key(0), 5);
    return {nn::Conv2d::init(k[0], 1, 6, 5, {.padding = 2}), nn::Conv2d::init(k[1], 6, 16, 5),
            nn::Linear::init(k[2], 400, 120), nn::Linear::init(k[3], 120, 84),
            nn::Linear::init(k[4], 84, 10)};
  }

  Array operator()(const Array& x) const {
    const Array y = nn::max_pool2d(nn::relu(b(nn::max_pool2d(nn::relu(a(x)), 2))), 2);
    return e(nn::relu(d(nn::relu(c(nn::flatten(y))))));
  }
};

/// Two convolutions of 64 channels over f32[n, 3, 32, 32].
struct Cnn {
  nn::Conv2d a, b;
  nn::Linear c;

  static Cnn init() {
    const sp::Key k = sp::random::split(sp::Key(0), 3);
    return {nn::Conv2d::init(k[0], 3, 64, 3, {.padding = 1}),
            nn::Conv2d::init(k[1], 64, 64, 3, {.padding = 1}), nn::Linear::init(k[2], 64, 10)};
  }

  Array operator()(const Array& x) const {
    return c(sp::mean(nn::relu(b(nn::max_pool2d(nn::relu(a(x)), 2))), {2, 3}));
  }
};

/// A block of a transformer: causal attention, then two layers with gelu, each after a layer norm.
struct Block {
  nn::LayerNorm ln1, ln2;
  nn::Linear qkv, o, up, down;

  static Block init(const sp::Key& key, int64_t d) {
    const sp::Key k = sp::random::split(key, 4);
    return {nn::LayerNorm::init({d}),         nn::LayerNorm::init({d}),
            nn::Linear::init(k[0], d, 3 * d), nn::Linear::init(k[1], d, d),
            nn::Linear::init(k[2], d, 4 * d), nn::Linear::init(k[3], 4 * d, d)};
  }

  /// f32[n, t, d] -> f32[n, t, d]
  Array operator()(const Array& x, int64_t heads) const {
    const int64_t n = x.shape(0), t = x.shape(1), d = x.shape(2);
    std::vector<Array> parts = sp::split(qkv(ln1(x)), 3, -1);
    for (Array& part : parts)
      part = sp::transpose(sp::reshape(part, {n, t, heads, d / heads}), {0, 2, 1, 3});
    const Array attended =
        nn::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
    const Array y = x + o(sp::reshape(sp::transpose(attended, {0, 2, 1, 3}), {n, t, d}));
    return y + down(nn::gelu(up(ln2(y)), {.approximate = nn::GeluApproximation::kTanh}));
  }
};

/// Four blocks between an embedding of 65 letters and a layer that predicts the next one.
struct Gpt {
  nn::Embedding tok;
  Array pos;  ///< f32[128, 128]
  std::vector<Block> blocks;
  nn::LayerNorm ln;
  nn::Linear out;

  static Gpt init() {
    const int64_t d = 128;
    const sp::Key k = sp::random::split(sp::Key(0), 7);
    Gpt net{{0.02f * sp::random::normal(k[0], {65, d})},
            0.02f * sp::random::normal(k[1], {128, d}),
            {},
            nn::LayerNorm::init({d}),
            nn::Linear::init(k[6], d, 65)};
    for (int64_t i = 0; i < 4; ++i) net.blocks.push_back(Block::init(k[2 + i], d));
    return net;
  }

  /// i32[n, 128] -> f32[n, 128, 65]
  Array operator()(const Array& letters) const {
    Array h = tok(letters) + pos;
    for (const Block& block : blocks) h = block(h, 4);
    return out(ln(h));
  }
};

}  // namespace bench
