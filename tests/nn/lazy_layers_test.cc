// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/lazy_layers.h"

#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace lazy_layers_test {

struct Net : Module {
  Stateful<Conv2d> conv;
  Stateful<BatchNorm> norm;
  Stateful<Linear> out;
  Net() {
    const auto [k1, k2] = random::split<2>(Key(3));
    conv = register_module("conv", LazyConv2d(k1, 4, 3, {.padding = 1}));
    norm = register_module("norm", LazyBatchNorm2d());
    out = register_module("out", LazyLinear(k2, 2));
  }
  Array forward(const Array& x) override {
    const Array y = relu(norm(conv(x)));
    return out(y.reshape({x.shape(0), -1}));
  }
};

TEST(LazyLayersByName, TakeTheirSizesFromTheFirstCall) {
  Net net;
  EXPECT_TRUE(net.named_parameters().empty());
  EXPECT_EQ(net(ones({2, 3, 5, 5})).shape(), (Shape{2, 2}));
  EXPECT_EQ(net.get_parameter("conv.weight").shape(), (Shape{4, 3, 3, 3}));
  EXPECT_EQ(net.get_parameter("norm.weight").shape(), (Shape{4}));
  EXPECT_EQ(net.get_parameter("out.weight").shape(), (Shape{2, 100}));
  const auto [k1, k2] = random::split<2>(Key(3));
  EXPECT_TRUE(array_equal(net.out.layer().weight, Linear::init(k2, 100, 2).weight));
}

TEST(LazyLayersByName, TakeNoSettingsOfArraysBefore) {
  Net net;
  EXPECT_THROW(net.to_double(), ValueError);
  EXPECT_THROW(net.requires_grad(false), ValueError);
  const std::string text = message<ShapeError>([&] { net(ones({2, 3})); });
  EXPECT_TRUE(text.starts_with("Conv2d: takes f[n, c, height, width] or f[c, ...], got f32[2,3]"))
      << text;
  net(ones({2, 3, 5, 5}));
  net.to_double().requires_grad(false);
  EXPECT_EQ(net.get_parameter("out.weight").dtype(), float64);
  EXPECT_TRUE(net.trainable_parameters().empty());
}

TEST(LazyLayersByName, HaveNoArraysForFilesAndOptimizersBefore) {
  Net net;
  const std::string why =
      ": lazy layers have no arrays until they are called: 'conv' (LazyConv2d), 'norm' "
      "(LazyBatchNorm), 'out' (LazyLinear); call the module once before, at an example";
  EXPECT_EQ(message<ValueError>([&] { net.state_dict(); }), "state_dict" + why);
  EXPECT_EQ(message<ValueError>([&] { functionalize(net); }), "functionalize" + why);
  EXPECT_EQ(message<ValueError>([&] { optim::Stateful(net, optim::adam()); }),
            "trainable_parameters" + why);
  const auto loss = [](Net& n, const Array& x) { return sum(n(x)); };
  EXPECT_EQ(message<ValueError>([&] { compile_step(net, optim::adam(), loss); }),
            "compile_step" + why);
  EXPECT_NE(message<TreeError>([&] {
              net.load_state_dict({{"out.bias", ones({2})}});
            }).find(why.substr(2)),
            std::string::npos);
}

template <class L>
Shape first_parameter(const L& layer, const Shape& input) {
  layer(ones(input));
  return layer.named_parameters().value(0).shape();
}

TEST(LazyLayersByName, EachTakesItsAxis) {
  const Key key(0);
  EXPECT_EQ(first_parameter(LazyLinear(key, 2), {3, 7}), (Shape{2, 7}));
  EXPECT_EQ(first_parameter(LazyConv1d(key, 2, 3), {1, 5, 9}), (Shape{2, 5, 3}));
  EXPECT_EQ(first_parameter(LazyConv3d(key, 2, 1), {1, 5, 2, 2, 2}), (Shape{2, 5, 1, 1, 1}));
  EXPECT_EQ(first_parameter(LazyConvTranspose1d(key, 2, 3), {1, 5, 9}), (Shape{5, 2, 3}));
  EXPECT_EQ(first_parameter(LazyConvTranspose2d(key, 2, 3), {1, 5, 9, 9}), (Shape{5, 2, 3, 3}));
  EXPECT_EQ(first_parameter(LazyConvTranspose3d(key, 2, 1), {1, 5, 2, 2, 2}),
            (Shape{5, 2, 1, 1, 1}));
  const InstanceNormLayerOptions affine{.affine = true};
  EXPECT_EQ(first_parameter(LazyBatchNorm1d(), {4, 6}), (Shape{6}));
  EXPECT_EQ(first_parameter(LazyInstanceNorm1d(affine), {2, 5, 9}), (Shape{5}));
  EXPECT_EQ(first_parameter(LazyInstanceNorm2d(affine), {2, 5, 9, 3}), (Shape{5}));
  EXPECT_EQ(first_parameter(LazyInstanceNorm3d(affine), {5, 9, 3, 3}), (Shape{5}));
}

}  // namespace lazy_layers_test
}  // namespace spruce::nn
