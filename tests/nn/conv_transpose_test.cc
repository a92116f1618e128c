// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/conv_transpose.h"

#include "spruce/nn/conv.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace conv_transpose_test {

template <int kAxes>
void check_transposed(size_t least) {
  check("conv_transpose" + std::to_string(kAxes) + "d", least,
        [](const Inputs& in, const Options& o) {
          return nn::ConvTransposeFunction<kAxes>{}(in[0], in[1], in.size() > 2 ? in[2] : Array(),
                                                    {.stride = sizes_of(o, "s"),
                                                     .padding = sizes_of(o, "pad"),
                                                     .output_padding = sizes_of(o, "more"),
                                                     .groups = o.integer("groups"),
                                                     .dilation = sizes_of(o, "d")});
        });
}

TEST(ConvTranspose, AsPyTorch) {
  check_transposed<1>(6);
  check_transposed<2>(6);
  check_transposed<3>(4);
}

// The gradient of a convolution's input is the transposed convolution.
TEST(ConvTranspose, IsTheTranspose) {
  const Array x = torch_cases::wave({2, 4, 7, 6}, 0.7), w = torch_cases::wave({6, 2, 3, 3}, 0.4);
  const auto conv = [&](const Array& x) {
    return nn::conv2d(x, w, {}, {.stride = 2, .padding = 1, .groups = 2});
  };
  const auto [y, pull] = sp::vjp(conv, x);
  EXPECT_TRUE(sp::allclose(
      pull(y), nn::conv_transpose2d(
                   y, w, {}, {.stride = 2, .padding = 1, .output_padding = {0, 1}, .groups = 2})));
}

TEST(ConvTranspose, LayersAreTheFunctionAndCountTheirFan) {
  const auto layer = nn::ConvTranspose2d::init(
      sp::Key(0), 4, 6, 3, {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2});
  EXPECT_EQ(layer.weight.shape(), (sp::Shape{4, 3, 3, 3}));
  EXPECT_EQ(layer.bias->shape(), (sp::Shape{6}));
  const double largest = sp::max(sp::abs(layer.weight)).item<float>(), bound = 1 / std::sqrt(27.0);
  EXPECT_LE(largest, bound + 1e-6);
  EXPECT_GT(largest, 0.8 * bound);
  const Array x = sp::random::normal(sp::Key(1), {2, 4, 5, 5});
  EXPECT_EQ(layer(x).shape(), (sp::Shape{2, 6, 10, 10}));
  const nn::ConvTransposeOptions options{
      .stride = 2, .padding = 1, .output_padding = 1, .groups = 2};
  EXPECT_TRUE(
      sp::array_equal(layer(x), nn::conv_transpose2d(x, layer.weight, *layer.bias, options)));
  EXPECT_FALSE(nn::ConvTranspose1d::init(sp::Key(0), 2, 3, 2, {.bias = false}).bias.has_value());
  EXPECT_EQ(nn::ConvTranspose3d::init(sp::Key(0), 2, 3, 2)(sp::ones({2, 2, 2, 2})).shape(),
            (sp::Shape{3, 3, 3, 3}));
  const auto made = nn::conv_transpose1d_layer(3, 4, {.stride = 2}).init(sp::Key(0), x[0]);
  EXPECT_EQ(made(x[0]).shape(), (sp::Shape{4, 3, 12}));
  EXPECT_EQ(nn::conv_transpose2d_layer(3, 2).init(sp::Key(0), x).weight.shape(),
            (sp::Shape{4, 3, 2, 2}));
}

TEST(ConvTranspose, BadInput) {
  const Array x = sp::ones({1, 2, 4, 4}), w = sp::ones({2, 3, 3, 3});
  EXPECT_THROW(nn::conv_transpose2d(x, sp::ones({3, 3, 3, 3})), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose1d(x, w), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, sp::ones({2})), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, {}, {.output_padding = 1}), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, {}, {.padding = 3}), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, {}, {.groups = 3}), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, {}, {.groups = 0}), sp::ShapeError);
  EXPECT_THROW(nn::conv_transpose2d(x, w, {}, {.stride = 0}), sp::ShapeError);
  EXPECT_THROW(nn::ConvTranspose2d::init(sp::Key(0), 3, 4, 3, {.groups = 2}), sp::ShapeError);
}

template <class Layer>
void check_layer(const char* op) {
  check(op, 4, [](const Inputs& in, const Options& o) {
    const std::string& mode = o.text("mode");
    nn::ConvLayerOptions options{
        .stride = o.integer("s"), .dilation = sizes_of(o, "d"), .groups = o.integer("groups")};
    if (o.text("pad") == "same") {
      options.padding = "same";
    } else {
      const sp::Shape p = list_of(o, "pad");
      options.padding = p.rank() == 1 ? nn::PaddingArg(p[0]) : nn::PaddingArg({p[0], p[1]});
    }
    options.padding_mode = mode == "reflect"     ? nn::PaddingMode::kReflect
                           : mode == "replicate" ? nn::PaddingMode::kReplicate
                           : mode == "circular"  ? nn::PaddingMode::kCircular
                                                 : nn::PaddingMode::kZeros;
    const int64_t channels = in[1].shape()[1] * o.integer("groups");
    Layer layer = Layer::init(sp::Key(0), channels, 2, sizes_of(o, "k"), options);
    layer.weight = in[1];
    layer.bias = in[2];
    return layer(in[0]);
  });
}

TEST(Conv, LayersWithEveryPaddingMode) {
  check_layer<nn::Conv1d>("conv1d_layer");
  check_layer<nn::Conv2d>("conv2d_layer");
  check_layer<nn::Conv3d>("conv3d_layer");
  EXPECT_EQ(nn::conv3d_layer(2, 3).init(sp::Key(0), sp::ones({1, 4, 5, 5, 5})).weight.shape(),
            (sp::Shape{2, 4, 3, 3, 3}));
  const auto mirror = nn::Conv1d::init(sp::Key(0), 1, 1, 9,
                                       {.padding = 4, .padding_mode = nn::PaddingMode::kReflect});
  EXPECT_THROW(mirror(sp::ones({1, 1, 3})), sp::ShapeError);
}

}  // namespace conv_transpose_test
}  // namespace functional_cases
