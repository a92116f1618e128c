// SPDX-License-Identifier: Apache-2.0
// The bridge for the layers that bridge_property_test.cc does not have; optional parameters, and
// what has to be refused under vmap.
#include "tests/nn/bridge.h"

namespace spruce::nn {
namespace bridge_property_test {

struct Inputs {
  Key k{0};
  Array row = random::normal(Key(1), {4, 6}), signal = random::normal(Key(2), {4, 6, 8}),
        image = random::normal(Key(3), {4, 6, 5, 5}),
        volume = random::normal(Key(4), {2, 6, 4, 4, 4});
};

TEST(BridgeProperty, HoldsForRecurrentLayers) {
  const auto [k, row, signal, image, volume] = Inputs{};
  const Array h = ones({4, 3}), state = ones({2, 6, 3});
  check_layer("RNNCell", RNNCell::init(k, 6, 3), row, h);
  check_layer("GRUCell", GRUCell::init(k, 6, 3), row, h);
  check_layer("RNN", RNN::init(k, 8, 3, {.num_layers = 2, .dropout = 0.5f}), signal, state);
  check_layer("GRU", GRU::init(k, 8, 3, {.num_layers = 2, .dropout = 0.5f}), signal, state);
}

TEST(BridgeProperty, HoldsForTransformers) {
  const auto [k, row, signal, image, volume] = Inputs{};
  const TransformerLayerOptions o{.dim_feedforward = 8, .dropout = 0.5f};
  const Array memory = 0.5f * signal;
  check_layer("TransformerEncoderLayer", TransformerEncoderLayer::init(k, 8, 2, o), signal);
  check_layer("TransformerDecoderLayer", TransformerDecoderLayer::init(k, 8, 2, o), signal, memory);
  check_layer("TransformerEncoder", TransformerEncoder::init(k, 8, 2, 2, o), signal,
              EncoderMasks{.is_causal = true});
  check_layer("TransformerDecoder", TransformerDecoder::init(k, 8, 2, 2, o), signal, memory);
  check_layer("Transformer", Transformer::init(k, 8, 2, {1, 1, o}), signal, memory);
  check_layer("SinusoidalPositions", SinusoidalPositions{}, signal);
  check_layer("LearnedPositions", LearnedPositions::init(k, 9, 8), signal);
  check_layer("LoRA", LoRA::init(k, Linear::init(k, 6, 3), {.dropout = 0.5f}), row);
  check_layer("Residual", Residual{Residual{Dropout{0.5f}}}, row);
}

TEST(BridgeProperty, HoldsForNormsAndDropouts) {
  const auto [k, row, signal, image, volume] = Inputs{};
  check_layer("InstanceNorm1d", InstanceNorm1d::init(6, {.affine = true}), signal);
  check_layer("InstanceNorm3d", InstanceNorm3d::init(6, {.track_running_stats = true}), volume);
  check_layer("BatchNorm without statistics", BatchNorm::init(6, {.track_running_stats = false}),
              row);
  check_layer("LocalResponseNorm", LocalResponseNorm{3}, image);
  check_layer("Dropout1d", Dropout1d{0.5f}, signal);
  check_layer("Dropout3d", Dropout3d{0.5f}, volume);
  check_layer("FeatureAlphaDropout", FeatureAlphaDropout{0.5f}, image);
  check_layer("RReLU", RReLU{}, row);
  check_layer("ConvTranspose3d", ConvTranspose3d::init(k, 6, 2, 2), volume);
}

TEST(BridgeProperty, HoldsForPools) {
  const auto [k, row, signal, image, volume] = Inputs{};
  check_layer("MaxPool1d", MaxPool1d{2}, signal);
  check_layer("MaxPool3d", MaxPool3d{2}, volume);
  check_layer("AvgPool1d", AvgPool1d{2}, signal);
  check_layer("AvgPool2d", AvgPool2d{2}, image);
  check_layer("AvgPool3d", AvgPool3d{2}, volume);
  check_layer("LPPool1d", LPPool1d{2.0, 2}, signal);
  check_layer("LPPool2d", LPPool2d{3.0, 2}, abs(image));
  check_layer("AdaptiveAvgPool2d", AdaptiveAvgPool2d{3}, image);
  check_layer("AdaptiveMaxPool1d", AdaptiveMaxPool1d{3}, signal);
  check_layer("FractionalMaxPool2d", FractionalMaxPool2d{.output_size = 3}, image);
  check_layer("FractionalMaxPool3d", FractionalMaxPool3d{.output_size = 2}, volume);
  const MaxPoolResult pooled = max_pool2d_with_indices(image, 2);
  check_layer("MaxUnpool2d", MaxUnpool2d{.kernel = 2, .output_size = 5}, pooled.output,
              pooled.indices);
}

TEST(BridgeProperty, HoldsForOtherLayers) {
  const auto [k, row, signal, image, volume] = Inputs{};
  check_layer("Identity", Identity{}, row);
  check_layer("ReflectionPad2d", ReflectionPad2d{1}, image);
  check_layer("ConstantPad1d", ConstantPad1d{1, 2.0}, signal);
  check_layer("Upsample", Upsample{.scale_factor = 2}, image);
  check_layer("PixelShuffle", PixelShuffle{1}, image);
  check_layer("ChannelShuffle", ChannelShuffle{2}, image);
  check_layer("Unfold", Unfold{2}, image);
  check_layer("Unflatten", Unflatten{1, {2, 3}}, row);
  check_layer("LeakyReLU", LeakyReLU{{.negative_slope = 0.2f}}, row);
  check_layer("GELU", GELU{}, row);
  check_layer("GLU", GLU{}, row);
  check_layer("ReLU", ReLU{}, row);
  check_layer("CosineSimilarity", CosineSimilarity{}, row, 2.0f * row + 1.0f);
  check_layer("PairwiseDistance", PairwiseDistance{}, row, 2.0f * row);
  check_layer("MSELoss", MSELoss{}, row, 2.0f * row);
  check_layer("CrossEntropyLoss", CrossEntropyLoss{{.weight = ones({6})}}, row,
              array({0, 1, 5, 2}));
  check_layer("AdaptiveLogSoftmaxWithLoss", AdaptiveLogSoftmaxWithLoss::init(k, 6, 9, {3}), row,
              array({0, 8, 3, 2}));
  check_layer("LinearCrossEntropyLoss",
              LinearCrossEntropyLoss::init(k, 6, 9, {.loss = {.weight = ones({9})}}), row,
              array({0, 8, 3, 2}));
}

// A layer that has its gate or not, and a module that registers one or not.
struct Gated {
  Linear fc;
  std::optional<Linear> gate = {};
  std::optional<Array> scale = {};
  std::optional<Dropout> drop = {};
  Array operator()(const Array& x, Context& ctx) const {
    Array y = fc(x);
    if (gate) y = y * sigmoid((*gate)(x));
    if (scale) y = y * *scale;
    return drop ? (*drop)(y, ctx) : y;
  }
};
struct Perhaps : Module {
  explicit Perhaps(bool gated) {
    fc = register_module("fc", Linear::init(Key(0), 6, 3));
    if (gated) gate = register_module("gate", Linear::init(Key(1), 6, 3));
  }
  Array forward(const Array& x) override { return gate ? fc(x) * sigmoid((*gate)(x)) : fc(x); }
  Stateful<Linear> fc;
  std::optional<Stateful<Linear>> gate;
};

TEST(BridgeProperty, HoldsForOptionalParameters) {
  const Array x = random::normal(Key(1), {4, 6});
  const Linear a = Linear::init(Key(0), 6, 3), b = Linear::init(Key(1), 6, 3);
  check_layer("without", Gated{a}, x);
  check_layer("with a gate", Gated{a, b}, x);
  check_layer("with all", Gated{a, b, full({3}, 2.0f), Dropout{0.5f}}, x);
  for (const bool gated : {false, true}) {
    Perhaps net(gated);
    const auto f = functionalize(net);
    EXPECT_EQ(f.params.size(), gated ? 4u : 2u);
    EXPECT_TRUE(array_equal(f.apply(f.params, f.buffers, {}, x).first, net(x)));
    EXPECT_TRUE(array_equal(net(x), gated ? a(x) * sigmoid(b(x)) : a(x)));
    const auto g = grad(
        [&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); })(f.params);
    EXPECT_EQ(g.contains("gate.weight"), gated);
    Perhaps other(!gated);
    EXPECT_THROW(other.load_state_dict(net.state_dict()), TreeError);
  }
}

TEST(BridgeProperty, ATrainingCallDirectlyUnderVmapIsRefused) {
  Net net(Key(0));
  net.seed(Key(1));
  const Array many = random::normal(Key(2), {3, 5, 4});
  const NamedArrays before = net.state_dict();
  std::string text = "no error";
  try {
    vmap([&](const Array& x) { return net(x); })(many);
  } catch (const TracerError& e) {
    text = e.what();
  }
  EXPECT_NE(text.find("would become a traced value; inside of grad, vmap or jit"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("use functionalize(module), which hands new buffers out"), std::string::npos)
      << text;
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  net.eval();
  EXPECT_EQ(vmap([&](const Array& x) { return net(x); })(many).shape(), (Shape{3, 5, 2}));
  // One set of buffers for each example, on request.
  const auto f = functionalize(net);
  const auto [y, buffers] = vmap([&](const Array& x) {
    return f.apply(f.params, f.buffers, {.training = true, .key = Key(1)}, x);
  })(many);
  EXPECT_EQ(buffers.at("block.norm.running_mean").shape(), (Shape{3, 8}));
}

}  // namespace bridge_property_test
}  // namespace spruce::nn
