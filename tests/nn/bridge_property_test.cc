// SPDX-License-Identifier: Apache-2.0
// The bridge in both directions: every layer, and random nets of them, give the same as a struct,
// as a module, as a function and compiled, in both modes, with buffers and random numbers.
#include "tests/nn/bridge.h"

namespace spruce::nn {
namespace bridge_property_test {

TEST(BridgeProperty, HoldsForLayers) {
  const Key k(0);
  const Array row = random::normal(Key(1), {4, 6}), signal = random::normal(Key(2), {4, 6, 8}),
              image = random::normal(Key(3), {4, 6, 5, 5}),
              volume = random::normal(Key(4), {2, 6, 3, 3, 3});
  check_layer("Linear", Linear::init(k, 6, 3), row);
  check_layer("Bilinear", Bilinear::init(k, 6, 6, 3), row, 2.0f * row);
  check_layer("Conv1d", Conv1d::init(k, 6, 3, 3), signal);
  check_layer("Conv2d", Conv2d::init(k, 6, 3, 3, {.padding = 1, .bias = false}), image);
  check_layer("Conv3d", Conv3d::init(k, 6, 3, 2), volume);
  check_layer("ConvTranspose1d", ConvTranspose1d::init(k, 6, 3, 3), signal);
  check_layer("ConvTranspose2d", ConvTranspose2d::init(k, 6, 3, 3), image);
  check_layer("BatchNorm", BatchNorm::init(6), image);
  check_layer("LayerNorm", LayerNorm::init({6}), row);
  check_layer("GroupNorm", GroupNorm::init(2, 6), image);
  check_layer("InstanceNorm2d", InstanceNorm2d::init(6, {.track_running_stats = true}), image);
  check_layer("RMSNorm", RMSNorm::init({6}), row);
  check_layer("PReLU", PReLU::init(6), row);
  check_layer("Dropout", Dropout{0.5f}, row);
  check_layer("Dropout2d", Dropout2d{0.5f}, image);
  check_layer("AlphaDropout", AlphaDropout{0.5f}, row);
  check_layer("Embedding", Embedding::init(k, 9, 4), array({{1, 2}, {3, 4}}));
  check_layer("EmbeddingBag", EmbeddingBag::init(k, 9, 4), array({{1, 2}, {3, 4}}));
  check_layer("MaxPool2d", MaxPool2d{2}, image);
  check_layer("LSTMCell", LSTMCell::init(k, 6, 3), row, LSTMState{zeros({4, 3}), ones({4, 3})});
  check_layer("LSTM", LSTM::init(k, 8, 3, {.num_layers = 2, .dropout = 0.5f}), signal,
              LSTMState{zeros({2, 6, 3}), ones({2, 6, 3})});
  check_layer("MultiheadAttention", MultiheadAttention::init(k, 8, 2, {.dropout = 0.5f}), signal,
              signal, signal);
  check_layer("MultiheadAttention with a mask", MultiheadAttention::init(k, 8, 2), signal, signal,
              signal, MultiheadMasks{.is_causal = true});
}

// Layers that keep f[n, 6], chosen by the numbers of a seed; some in modules of their own, some
// called twice, some shared.
class RandomNet : public Module {
 public:
  RandomNet(uint32_t seed, int depth) {
    const auto next = [&](uint32_t n) {
      seed = seed * 1664525u + 1013904223u;
      return (seed >> 16) % n;
    };
    const size_t count = 2 + next(4);
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "part" + std::to_string(i);
      switch (next(depth > 0 ? 7u : 5u)) {
        case 0: {
          auto l = register_module(name, Linear::init(Key(seed), 6, 6));
          parts_.push_back([l](const Array& x) { return tanh(l(x)); });
          break;
        }
        case 1: {
          auto l = register_module(name, BatchNorm::init(6));
          parts_.push_back([l](const Array& x) { return l(x); });
          break;
        }
        case 2: {
          auto l = register_module(name, Dropout{0.3f});
          parts_.push_back([l](const Array& x) { return l(x) + l(x); });
          break;
        }
        case 3: {
          auto l = register_module(name, LayerNorm::init({6}));
          parts_.push_back([l](const Array& x) { return x + l(x); });
          break;
        }
        case 4: {
          register_buffer(name, zeros({6}));
          register_parameter(name + "_scale", full({6}, 0.9f));
          parts_.push_back([this, name](const Array& x) {
            if (training()) update_buffer(name, buffer(name) + mean(x, 0));
            return parameter(name + "_scale") * x + buffer(name);
          });
          break;
        }
        default: {
          const auto m = register_module(name, std::make_shared<RandomNet>(seed, depth - 1));
          if (next(2) == 0) register_module(name + "_again", m);
          parts_.push_back([m](const Array& x) { return (*m)(x) + x; });
        }
      }
    }
  }
  Array forward(const Array& x) override {
    Array y = x;
    for (const auto& part : parts_) y = part(y);
    return y;
  }

 private:
  std::vector<std::function<Array(const Array&)>> parts_;
};

TEST(BridgeProperty, HoldsForRandomNets) {
  const Array x = random::normal(Key(1), {5, 6});
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomNet a(seed, 2), b(seed, 2);
    const auto fast = compile(b);
    const auto f = functionalize(a);
    NamedArrays buffers = f.buffers;
    Key key(seed);
    for (RandomNet* n : {&a, &b}) n->seed(key);
    for (int call = 0; call < 3; ++call) {
      const auto [pure, next] = f.apply(f.params, buffers, {.training = true, .key = key}, x);
      buffers = next;
      const Array stateful = a(x);
      EXPECT_TRUE(array_equal(stateful, pure));
      EXPECT_TRUE(allclose(fast(x), stateful, {.rtol = 1e-3, .atol = 1e-3}));
      key = a.node()->key;
    }
    EXPECT_TRUE(tree::equal(a.named_buffers(), buffers));
    a.eval();
    EXPECT_TRUE(array_equal(a(x), f.apply(f.params, buffers, {}, x).first));
    RandomNet c(seed, 2);
    c.eval();
    c.load_state_dict(a.state_dict());
    EXPECT_TRUE(array_equal(c(x), a(x)));
    check_pure(a, x);
    // One call for each example of a batch of batches.
    const Array many = random::normal(Key(2), {3, 5, 6});
    const auto mapped = vmap([&](const Array& one) {
      return f.apply(f.params, buffers, {.training = true, .key = key}, one);
    })(many);
    const auto alone = f.apply(f.params, buffers, {.training = true, .key = key}, many[1]);
    EXPECT_TRUE(allclose(mapped.first[1], alone.first, {.rtol = 1e-3, .atol = 1e-3}));
  }
}

}  // namespace bridge_property_test
}  // namespace spruce::nn
