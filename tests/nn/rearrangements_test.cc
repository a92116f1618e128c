// SPDX-License-Identifier: Apache-2.0
// Shuffles, padding, windows as columns.
#include "spruce/nn/pad.h"
#include "spruce/nn/pixel_shuffle.h"
#include "spruce/nn/unfold.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace rearrangements_test {

nn::PaddingMode mode_of(const Options& o) {
  const std::string& name = o.text("mode");
  return name == "reflect"     ? nn::PaddingMode::kReflect
         : name == "replicate" ? nn::PaddingMode::kReplicate
         : name == "circular"  ? nn::PaddingMode::kCircular
                               : nn::PaddingMode::kConstant;
}

TEST(Rearrangements, ShufflesAsPyTorch) {
  check("pixel_shuffle", 4, [](const Inputs& in, const Options& o) {
    return nn::pixel_shuffle(in[0], o.integer("r"));
  });
  check("pixel_unshuffle", 3, [](const Inputs& in, const Options& o) {
    return nn::PixelUnshuffle{o.integer("r")}(in[0]);
  });
  check("channel_shuffle", 3, [](const Inputs& in, const Options& o) {
    return nn::channel_shuffle(in[0], o.integer("groups"));
  });
  const Array x = torch_cases::wave({2, 8, 3, 2}, 0.7);
  EXPECT_TRUE(sp::array_equal(nn::pixel_unshuffle(nn::PixelShuffle{2}(x), 2), x));
  EXPECT_TRUE(sp::array_equal(nn::ChannelShuffle{4}(nn::ChannelShuffle{2}(x)), x));
  EXPECT_THROW(nn::pixel_shuffle(x, 3), sp::ShapeError);
  EXPECT_THROW(nn::pixel_shuffle(x, 0), sp::ShapeError);
  EXPECT_THROW(nn::pixel_shuffle(sp::ones({4, 4}), 2), sp::ShapeError);
  EXPECT_THROW(nn::pixel_unshuffle(x, 2), sp::ShapeError);
  EXPECT_THROW(nn::channel_shuffle(x, 3), sp::ShapeError);
}

TEST(Rearrangements, UnflattenCutsAnAxis) {
  const Array x = torch_cases::wave({2, 12, 3}, 0.7);
  EXPECT_EQ(nn::unflatten(x, 1, {3, 4}).shape(), (sp::Shape{2, 3, 4, 3}));
  EXPECT_EQ(nn::unflatten(x, -2, {2, -1, 3}).shape(), (sp::Shape{2, 2, 2, 3, 3}));
  const nn::Unflatten layer{.dim = 1, .sizes = {-1, 6}};
  EXPECT_TRUE(sp::array_equal(nn::flatten(layer(x), {.start_dim = 1, .end_dim = 2}), x));
  EXPECT_THROW(nn::unflatten(x, 1, {3, 5}), sp::ShapeError);
  EXPECT_THROW(nn::unflatten(x, 1, {-1, -1}), sp::ShapeError);
  EXPECT_THROW(nn::unflatten(x, 1, {-1, 5}), sp::ShapeError);
  EXPECT_THROW(nn::unflatten(x, 3, {3}), sp::ShapeError);
  EXPECT_THROW(nn::unflatten(x, 1, {}), sp::ShapeError);
}

TEST(Pad, AsPyTorch) {
  check("pad", 13, [](const Inputs& in, const Options& o) {
    const nn::PaddingMode mode = mode_of(o);
    return nn::pad(in[0], list_of(o, "pad"),
                   {.mode = mode, .value = mode == nn::PaddingMode::kConstant ? 2.5 : 0.0});
  });
}

TEST(Pad, LayersAreTheFunction) {
  const Array x = torch_cases::wave({1, 2, 3, 4}, 0.7);
  EXPECT_TRUE(sp::array_equal(nn::ZeroPad2d{1}(x), nn::pad(x, {1, 1, 1, 1})));
  EXPECT_TRUE(
      sp::array_equal(nn::ConstantPad1d{{1, 2}, 3.5}(x), nn::pad(x, {1, 2}, {.value = 3.5})));
  EXPECT_TRUE(sp::array_equal(nn::ReflectionPad2d{{1, 2, 0, 1}}(x),
                              nn::pad(x, {1, 2, 0, 1}, {.mode = nn::PaddingMode::kReflect})));
  EXPECT_TRUE(sp::array_equal(nn::ReplicationPad1d{5}(x),
                              nn::pad(x, {5, 5}, {.mode = nn::PaddingMode::kReplicate})));
  EXPECT_TRUE(
      sp::array_equal(nn::CircularPad3d{1}(x),
                      nn::pad(x, {1, 1, 1, 1, 1, 1}, {.mode = nn::PaddingMode::kCircular})));
}

TEST(Pad, BadInput) {
  const Array x = sp::ones({2, 3});
  EXPECT_THROW(nn::pad(x, {1}), sp::ShapeError);
  EXPECT_THROW(nn::pad(x, {1, 1, 1, 1, 1, 1}), sp::ShapeError);
  EXPECT_THROW(nn::pad(x, {-2, -2}), sp::ShapeError);
  EXPECT_THROW(nn::pad(x, {3, 0}, {.mode = nn::PaddingMode::kReflect}), sp::ShapeError);
  EXPECT_THROW(nn::pad(x, {4, 0}, {.mode = nn::PaddingMode::kCircular}), sp::ShapeError);
  EXPECT_THROW(nn::pad(x, {-1, 0}, {.mode = nn::PaddingMode::kReplicate}), sp::ValueError);
  EXPECT_THROW((nn::ZeroPad2d{{1, 1, 1}}(x)), sp::ShapeError);
}

nn::UnfoldOptions columns(const Options& o) {
  return {sizes_of(o, "d"), sizes_of(o, "pad"), sizes_of(o, "s")};
}

TEST(Pad, AValueThatDoesNotFitIsAnError) {
  const Array x = sp::ones({2}, sp::uint8), y = x.astype(sp::int32);
  expect_error<sp::ValueError>(
      [&] {
        nn::pad(x, {1, 0}, {.value = 300});
      },
      "pad: the value 300 does not fit in u8[2]; convert x with astype");
  EXPECT_THROW(nn::pad(x, {1, 0}, {.value = -1}), sp::ValueError);
  EXPECT_THROW(nn::pad(y, {1, 0}, {.value = 0.5}), sp::ValueError);
  EXPECT_TRUE(sp::array_equal(nn::pad(x, {1, 0}, {.value = 255})[0], 255));
}

TEST(Unfold, AsPyTorch) {
  check("unfold", 4, [](const Inputs& in, const Options& o) {
    return nn::unfold(in[0], sizes_of(o, "k"), columns(o));
  });
  check("fold", 4, [](const Inputs& in, const Options& o) {
    return nn::fold(in[0], sizes_of(o, "out"), sizes_of(o, "k"), columns(o));
  });
}

TEST(Unfold, LayersAndBadInput) {
  const Array x = torch_cases::wave({1, 2, 4, 4}, 0.7);
  const Array columns = nn::Unfold{.kernel = 2, .stride = 2}(x);
  EXPECT_EQ(columns.shape(), (sp::Shape{1, 8, 4}));
  EXPECT_TRUE(sp::array_equal(nn::Fold{.output_size = 4, .kernel = 2, .stride = 2}(columns), x));
  EXPECT_THROW(nn::unfold(x, 5), sp::ShapeError);
  EXPECT_THROW(nn::unfold(sp::ones({4, 4}), 2), sp::ShapeError);
  EXPECT_THROW(nn::fold(columns, 4, 2), sp::ShapeError);
  EXPECT_THROW(nn::fold(columns, 4, 3, {.stride = 2}), sp::ShapeError);
}

}  // namespace rearrangements_test
}  // namespace functional_cases
