// SPDX-License-Identifier: Apache-2.0
// Linear, convolutions, dropout, embedding and flatten.
#include <gtest/gtest.h>

#include <cmath>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace layers_test {

void expect_within(const Array& a, double bound) {
  const double largest = max(abs(a)).item<double>();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.9 * bound);  // a thousand draws come close to it
}

TEST(Init, LinearIsUniformFromTheTwoKeys) {
  const Linear layer = Linear::init(Key(3), 100, 40);
  EXPECT_EQ(layer.weight.shape(), (Shape{40, 100}));
  EXPECT_EQ(layer.bias->shape(), (Shape{40}));
  const auto [kw, kb] = random::split<2>(Key(3));
  const random::UniformOptions range{.low = -0.1f, .high = 0.1f};
  EXPECT_TRUE(array_equal(layer.weight, random::uniform(kw, {40, 100}, range)));
  EXPECT_TRUE(array_equal(*layer.bias, random::uniform(kb, {40}, range)));
  expect_within(astype(layer.weight, float64), 0.1 + 1e-6);
}

TEST(Init, ConvolutionsCountTheirFan) {
  const Conv2d layer = Conv2d::init(Key(4), 8, 12, {3, 5}, {.groups = 4});
  EXPECT_EQ(layer.weight.shape(), (Shape{12, 2, 3, 5}));
  const double bound = 1 / std::sqrt(30.0);
  expect_within(astype(layer.weight, float64), bound + 1e-6);
  const auto [kw, kb] = random::split<2>(Key(4));
  const float b = static_cast<float>(bound);
  EXPECT_TRUE(array_equal(*layer.bias, random::uniform(kb, {12}, {.low = -b, .high = b})));
  const Conv1d one = Conv1d::init(Key(4), 16, 32, 9);
  EXPECT_EQ(one.weight.shape(), (Shape{32, 16, 9}));
  expect_within(astype(one.weight, float64), 1.0 / 12 + 1e-6);
}

TEST(Init, OptionsLeaveOutTheBiasAndSetTheDtype) {
  const Linear layer = Linear::init(Key(0), 3, 2, {.bias = false, .dtype = float64});
  EXPECT_FALSE(layer.bias.has_value());
  EXPECT_EQ(layer.weight.dtype(), float64);
  EXPECT_EQ(tree::leaves(layer).size(), 1u);
  EXPECT_FALSE(Conv1d::init(Key(0), 3, 2, 1, {.bias = false}).bias.has_value());
}

TEST(Init, SizesOfZeroAndBelow) {
  EXPECT_EQ(Linear::init(Key(0), 0, 2)(ones({3, 0})).to_vector<float>(),
            std::vector<float>(6, 0.0f));
  EXPECT_THROW(Linear::init(Key(0), -1, 2), ShapeError);
  EXPECT_THROW(Linear::init(Key(0), 2, -1), ShapeError);
  EXPECT_THROW(Conv2d::init(Key(0), 3, 4, 3, {.groups = 2}), ShapeError);
  EXPECT_THROW(Conv2d::init(Key(0), 3, 4, {3, 3, 3}), ShapeError);
  EXPECT_THROW(Conv2d::init(Key(0), 3, 4, 3, {.padding = "full"}), ValueError);
}

// As LayerNorm{4} is: its weight is the number 4.
TEST(Init, LayersMadeByTheirFieldsSaySo) {
  const Array x = ones({2, 4, 3, 3}), number = 4;
  const auto says = [](const std::string& name, const auto& call) {
    EXPECT_EQ(message<ValueError>(call),
              name + ": weight is i32*[]; the weight is a number: a layer is made by " + name +
                  "::init(key, ...), braces or parentheses only fill its fields");
  };
  const auto layer = [&](const std::string& name, auto made) {
    made.weight = number;
    says(name, [&] { made(x); });
  };
  layer("LayerNorm", LayerNorm());
  layer("RMSNorm", RMSNorm());
  layer("GroupNorm", GroupNorm());
  layer("BatchNorm", BatchNorm());
  layer("InstanceNorm2d", InstanceNorm2d());
  layer("ConvTranspose2d", ConvTranspose2d());
  layer("PReLU", PReLU());
  GRUCell cell = GRUCell::init(Key(0), 4, 2);
  cell.weight_ih = number;
  says("GRUCell", [&] { cell(ones({3, 4}), zeros({3, 2})); });
}

TEST(Linear, TakesAnyLeadingAxes) {
  const Linear layer = Linear::init(Key(0), 4, 3);
  const Array x = random::normal(Key(1), {2, 5, 4});
  const Array y = layer(x);
  EXPECT_EQ(y.shape(), (Shape{2, 5, 3}));
  EXPECT_TRUE(allclose(y[1][2], matmul(layer.weight, x[1][2]) + *layer.bias, {.atol = 1e-6}));
  EXPECT_TRUE(allclose(layer(x[0][0]), y[0][0], {.atol = 1e-6}));
  EXPECT_THROW(layer(ones({2, 5})), ShapeError);
  EXPECT_THROW(linear(ones({2, 4}), layer.weight, ones({4})), ShapeError);
}

TEST(Conv, LayerIsTheFunctionWithItsOptions) {
  const Conv2d layer =
      Conv2d::init(Key(0), 2, 4, 3, {.stride = 2, .padding = {1, 0}, .dilation = 1, .groups = 2});
  const Array x = random::normal(Key(1), {3, 2, 7, 8});
  const Array expected = conv2d(x, layer.weight, *layer.bias,
                                {.stride = 2, .padding = {1, 0}, .dilation = 1, .groups = 2});
  EXPECT_TRUE(array_equal(layer(x), expected));
  EXPECT_EQ(layer(x[0]).shape(), (Shape{4, 4, 3}));
  const Conv1d same = Conv1d::init(Key(0), 2, 2, 4, {.padding = "same"});
  EXPECT_EQ(same(ones({1, 2, 9})).shape(), (Shape{1, 2, 9}));
  EXPECT_THROW(layer(ones({3, 3, 7, 8})), ShapeError);
}

// A share of p dropped, the rest scaled, and the gradient the same mask.
TEST(Dropout, DropsAndScales) {
  const Array x = ones({100, 100});
  const DropoutOptions options{.p = 0.2f, .key = Key(5)};
  const Array y = dropout(x, options);
  int64_t dropped = 0;
  for (const float v : y.data<float>()) {
    EXPECT_TRUE(v == 0 || std::abs(v - 1.25f) < 1e-6f) << v;
    dropped += v == 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped), 2000, 5 * 40);
  const Array g = grad([&](const Array& x) { return sum(dropout(x, options)); })(x);
  EXPECT_TRUE(array_equal(g, y));
}

TEST(Dropout, FollowsItsKey) {
  const Array x = ones({64});
  EXPECT_TRUE(array_equal(dropout(x, {.key = Key(1)}), dropout(x, {.key = Key(1)})));
  EXPECT_FALSE(array_equal(dropout(x, {.key = Key(1)}), dropout(x, {.key = Key(2)})));
  const auto one = [&](const Key& k) { return dropout(x, {.key = k}); };
  const Key keys = random::split(Key(3), 2);
  EXPECT_TRUE(array_equal(vmap(one)(keys)[1], one(keys[1])));
}

TEST(Dropout, EdgesOfP) {
  const Array x = array({1.0f, -2.0f, std::nanf("")});
  EXPECT_TRUE(array_equal(dropout(x, {.p = 0}), x, {.equal_nan = true}));
  EXPECT_TRUE(array_equal(dropout(x, {.p = 1, .key = Key(0)}), zeros({3})));
  EXPECT_TRUE(array_equal(dropout(x, {.training = false}), x, {.equal_nan = true}));
  EXPECT_THROW(dropout(x, {.p = 1.5f, .key = Key(0)}), ValueError);
  EXPECT_THROW(dropout(x, {.p = -0.5f, .key = Key(0)}), ValueError);
  EXPECT_THROW(dropout(x, {.p = 0.5f}), ValueError);
}

TEST(Dropout, LayerDrawsFromTheContextOnlyInTraining) {
  const Dropout layer{0.5f};
  const Array x = ones({64});
  Context off{.key = Key(1)}, on{.training = true, .key = Key(1)}, without{.training = true};
  EXPECT_TRUE(array_equal(layer(x, off), x));
  EXPECT_EQ(off.keys_used, 0);
  EXPECT_TRUE(array_equal(layer(x), x));
  const Array first = layer(x, on), second = layer(x, on);
  EXPECT_TRUE(array_equal(first, dropout(x, {.key = random::fold_in(Key(1), 0)})));
  EXPECT_TRUE(array_equal(second, dropout(x, {.key = random::fold_in(Key(1), 1)})));
  EXPECT_THROW(layer(x, without), ValueError);
  EXPECT_TRUE(array_equal(Dropout{0}(x, without), x));
}

TEST(Embedding, TakesRowsAndAddsGradients) {
  const Embedding layer = Embedding::init(Key(0), 5, 3);
  EXPECT_TRUE(array_equal(layer.weight, random::normal(Key(0), {5, 3})));
  const Array index = array({{1, 1}, {4, 0}});
  EXPECT_EQ(layer(index).shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(array_equal(layer(index)[1][0], layer.weight[4]));
  const Embedding g = grad([&](const Embedding& e) { return sum(e(index)); })(layer);
  EXPECT_EQ(sum(g.weight, 1).to_vector<float>(), (std::vector<float>{3, 6, 0, 0, 3}));
  EXPECT_TRUE(array_equal(jit(layer)(index), layer(index)));
}

TEST(Embedding, BadInput) {
  const Embedding layer = Embedding::init(Key(0), 5, 3);
  EXPECT_THROW(layer(array({5})), IndexError);
  EXPECT_THROW(layer(array({-1})), IndexError);
  EXPECT_THROW(layer(ones({2})), DtypeError);
  EXPECT_THROW(embedding(array({0}), ones({5})), ShapeError);
}

TEST(Flatten, AxesBecomeOne) {
  const Array x = ones({2, 3, 4, 5});
  EXPECT_EQ(flatten(x).shape(), (Shape{2, 60}));
  EXPECT_EQ(flatten(x, {.start_dim = 0}).shape(), (Shape{120}));
  EXPECT_EQ(flatten(x, {.start_dim = 1, .end_dim = -2}).shape(), (Shape{2, 12, 5}));
  EXPECT_EQ(flatten(x, {.start_dim = -1}).shape(), x.shape());
  EXPECT_EQ(flatten(ones({0, 3, 2})).shape(), (Shape{0, 6}));
  EXPECT_THROW(flatten(x, {.start_dim = 3, .end_dim = 1}), ShapeError);
  EXPECT_THROW(flatten(x, {.start_dim = 4}), ShapeError);
  // As PyTorch: rank 0 is flattened to one element, where it counts as an axis.
  EXPECT_EQ(flatten(array(1.0f), {.start_dim = 0}).shape(), (Shape{1}));
  EXPECT_EQ(flatten(array(1.0f), {.start_dim = -1}).shape(), (Shape{1}));
  EXPECT_THROW(flatten(array(1.0f)), ShapeError);
}

}  // namespace layers_test
}  // namespace spruce::nn
