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

}  // namespace bench
