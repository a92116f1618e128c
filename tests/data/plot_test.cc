// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/plot.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/ops/ops.h"
#include "spruce/data/files/image.h"
#include "spruce/data/plot/image_grid.h"
#include "tests/core/io/scratch.h"
#include "tests/core/message.h"

namespace spruce::data {
namespace plot_test {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

size_t count_of(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Plot, ACurveIsAPathFromCornerToCorner) {
  const std::string svg = curves_svg({{"loss", {0, 1, 2}}}, {.title = "a < b"});
  EXPECT_THAT(svg, HasSubstr("M70 350L345 190L620 30"));
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr(">loss</text>"));
  EXPECT_EQ(count_of(svg, "<g"), count_of(svg, "</g>"));
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
}

TEST(Plot, WhatIsNoNumberLeavesAGap) {
  const std::string svg = curves_svg({{"y", {0, kNan, 1, INFINITY, 2, 1}}});
  EXPECT_EQ(count_of(svg.substr(svg.find("fill=\"none\"") - 80), "L"), 1u);
  EXPECT_EQ(count_of(svg, "nan"), 0u);
  EXPECT_EQ(count_of(svg, "inf"), 0u);
  EXPECT_THAT(curves_svg({{"y", {kNan}}}), HasSubstr("d=\"\""));
}

TEST(Plot, ALogarithmicAxisHasPowersOfTen) {
  const std::string svg = curves_svg({{"y", {1, 10, 100, 0}}}, {.log_y = true});
  for (const char* mark : {">1</text>", ">10</text>", ">100</text>"})
    EXPECT_THAT(svg, HasSubstr(mark));
  EXPECT_THAT(svg, HasSubstr("M70 350L253.333 190L436.667 30\""));
}

// Values that are equal, far away or nearly one, must not keep it looking for marks.
TEST(Plot, AnyValuesHaveMarks) {
  for (const std::vector<double>& y : {std::vector<double>{5, 5},
                                       {0, 0},
                                       {1e20, 1e20},
                                       {1, 1 + 1e-15},
                                       {-1e300, 1e300},
                                       {},
                                       {1e-300, 2e-300}}) {
    EXPECT_THAT(curves_svg({{"y", y}}), HasSubstr("</svg>"));
    EXPECT_THAT(curves_text({{"y", y}}), HasSubstr("|"));
  }
}

TEST(Plot, TextShowsCurvesByTheirFirstLetters) {
  const std::string text = curves_text({{"up", {0, 1}}, {"down", {1, 0}}}, {.title = "both"});
  const std::string blank(62, ' ');
  EXPECT_THAT(text, HasSubstr("both\n         1 |d" + blank + "u\n"));
  EXPECT_THAT(text, HasSubstr("         0 |u" + blank + "d\n"));
  EXPECT_EQ(count_of(text, "\n"), 18u);
}

TEST(Plot, MatricesAsTextAndSquares) {
  const Array m = array({{9, 1}, {0, 10}});
  EXPECT_EQ(matrix_text(m, {.title = "truth", .names = {"cat", "a"}}),
            "truth\n    cat   a\ncat   9   1\n  a   0  10\n");
  const std::string svg = matrix_svg(m);
  EXPECT_EQ(count_of(svg, "<rect"), 5u);
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.9\""));
  EXPECT_EQ(message([&] { return matrix_svg(m, {.names = {"a"}}); }),
            "matrix_svg: there are 1 names for 2 rows");
  EXPECT_THROW(matrix_text(ones({3})), ShapeError);
}

// The colour of a pixel as 0xrrggbb.
int colour_at(const Array& picture, int64_t x, int64_t y) {
  const auto c = picture[{y, x}].to_vector<uint8_t>();
  return c[0] << 16 | c[1] << 8 | c[2];
}

constexpr int kWhite = 0xffffff;

TEST(Plot, PixelsAreThoseOfTheSvg) {
  const Array picture = curves_image({{"", {1, 1, 1}}, {"", {0, 0, 0}}, {"", {0.5, kNan, 0.5}}});
  EXPECT_EQ(to_string(picture.aval()), "u8[800,1280,3]");
  // As in ACurveIsAPathFromCornerToCorner: from x 70 to 620 and from y 30 to 350, twice as large.
  for (const int64_t x : {300, 601, 1000}) {
    EXPECT_EQ(colour_at(picture, x, 60), 0x1f77b4);
    EXPECT_EQ(colour_at(picture, x, 700), 0xd62728);
    EXPECT_EQ(colour_at(picture, x, 640), kWhite);
    EXPECT_EQ(colour_at(picture, x, 380), kWhite);  // points alone are no line
  }
  EXPECT_EQ(colour_at(picture, 415, 640), 0xdddddd);  // a mark of the axis below
  EXPECT_EQ(colour_at(picture, 20, 780), kWhite);
}

TEST(Plot, AStrokeIsAsWideInEveryDirection) {
  // Of its 3 pixels, 2.62 are covered by more than 0.69, which makes red of 31 less than 100.
  const double up = std::hypot(1100, 640);
  const std::vector<std::pair<std::vector<double>, double>> cases = {
      {{0, 1}, up}, {{1, 0}, up}, {{0, 1, 0}, 2 * std::hypot(550, 640)}};
  for (const auto& [y, length] : cases) {
    const Array red = curves_image({{"", y}})[{slice(66, 694), slice(146, 1234), 0}];
    const auto dark = static_cast<double>(sum(where(less(red, 100), 1, 0)).item<int32_t>());
    EXPECT_NEAR(dark, 2.62 * length, 0.05 * 2.62 * length);
  }
}

TEST(Plot, LettersOfPixels) {
  // The title stands in the middle, on y 18: "I" is three pixels wide at the top and the bottom.
  const Array picture = curves_image({{"", {0, 1}}}, {.title = "I"});
  const Array head = picture[{slice(22, 36), slice(680, 700), 0}];
  const Array dark = where(equal(head, 0), 1, 0);
  // Two pixels to each of the 3 + 5 + 3 of the letter, both ways.
  EXPECT_EQ(sum(dark).item<int32_t>(), 4 * 11);
  // One letter for a code point, and a box for what has none.
  const auto title = [](const std::string& text) {
    return curves_image({{"", {0, 1}}}, {.title = text});
  };
  EXPECT_TRUE(array_equal(title("é"), title("漢")));
  EXPECT_FALSE(array_equal(title("é"), title("ab")));
  // All of ASCII differ from one another.
  std::vector<std::vector<uint8_t>> seen;
  for (char c = ' '; c <= '~'; ++c) {
    const Array letter =
        title(std::string(1, c))[{slice(20, 40), slice(670, 710), 0}].reshape({-1});
    seen.push_back(letter.to_vector<uint8_t>());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST(Plot, AnyCurvesHavePixels) {
  for (const std::vector<double>& y :
       {std::vector<double>{5, 5}, {}, {kNan}, {-1e300, 1e300}, {1e-300, 2e-300}, {INFINITY, 1}}) {
    EXPECT_EQ(curves_image({{"y", y}}, {.log_y = y.size() == 2}).shape(), (Shape{800, 1280, 3}));
  }
}

TEST(Plot, MatricesAsPixels) {
  const Array picture = matrix_image(array({{9, 1}, {0, 0}}));
  EXPECT_EQ(picture.shape(), (Shape{144 + 176, 192 + 176, 3}));
  // Squares of 88 pixels from (160, 112) on, in their left upper corners: nine tenths of blue, one,
  // and none in a row without entries.
  EXPECT_EQ(colour_at(picture, 170, 122), 0x3585bc);
  EXPECT_EQ(colour_at(picture, 258, 122), 0xe9f1f8);
  EXPECT_EQ(colour_at(picture, 170, 210), kWhite);
  EXPECT_EQ(colour_at(picture, 160, 122), 0xdddddd);
  EXPECT_EQ(matrix_image(ones({3, 1})).shape(), (Shape{144 + 264, 192 + 88, 3}));
  EXPECT_THROW(matrix_image(ones({3})), ShapeError);
  EXPECT_THAT(message<ShapeError>([] {
                return matrix_image(ones({129, 2}));
              }),
              HasSubstr("at most 128 rows and columns, got f32[129,2]"));
}

TEST(Plot, BadCurvesAreNamed) {
  EXPECT_EQ(message([] { return curves_svg({}); }), "curves_svg: there are no curves");
  EXPECT_EQ(message([] {
              return curves_text({{"y", {1, 2}, {1}}});
            }),
            "curves_text: the curve 'y' has 2 values and 1 places for them");
}

TEST(Plot, TextIsSaved) {
  const io::Scratch s;
  save_text(s.path("x.svg"), "<svg/>");
  EXPECT_EQ(s.read("x.svg"), "<svg/>");
  EXPECT_THAT(io::io_error([&] { save_text(s.path("no/x"), ""); }), HasSubstr("save_text: "));
}

TEST(ImageGrid, PicturesStandInRows) {
  const Array images = arange(3, uint8).reshape({3, 1, 1}) + zeros({3, 2, 2}, uint8);
  const Array grid = image_grid(images, {.columns = 2});
  EXPECT_EQ(to_string(grid.aval()), "u8[5,5]");
  EXPECT_EQ(grid.to_vector<uint8_t>(), (std::vector<uint8_t>{0,   0,   128, 1,   1,    //
                                                             0,   0,   128, 1,   1,    //
                                                             128, 128, 128, 128, 128,  //
                                                             2,   2,   128, 128, 128,  //
                                                             2,   2,   128, 128, 128}));
}

TEST(ImageGrid, FloatsAreScaledAndCutOff) {
  const Array x =
      array({-1.0f, 0.0f, 0.5f, 1.0f, 9.0f, static_cast<float>(kNan)}).reshape({1, 1, 6});
  EXPECT_EQ(image_grid(x).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0, 128, 255, 255, 0}));
  EXPECT_EQ(image_grid(x, {.low = -1, .high = 1}).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 128, 191, 255, 255, 0}));
}

TEST(ImageGrid, ColoursScaleAndShape) {
  const Array grid = image_grid(ones({7, 4, 6, 3}), {.gap = 0, .scale = 2});
  EXPECT_EQ(grid.shape(), (Shape{24, 36, 3}));  // three rows of three
  EXPECT_EQ(image_grid(ones({1, 2, 2})).shape(), (Shape{2, 2}));
}

TEST(ImageGrid, SvgHoldsThePixels) {
  const Array images = (arange(2 * 3 * 4 * 3) * 9).astype(uint8).reshape({2, 3, 4, 3});
  const std::string svg = image_grid_svg(images, {.columns = 2, .scale = 3});
  const std::string before = "href=\"data:image/png;base64,";
  const size_t from = svg.find(before) + before.size();
  const std::string digits = svg.substr(from, svg.find('"', from) - from);
  EXPECT_THAT(svg, HasSubstr("<image width=\"25\" height=\"9\""));
  ASSERT_EQ(digits.size() % 4, 0u);
  std::string png;
  for (size_t i = 0; i < digits.size(); i += 4) {
    uint32_t three = 0;
    for (size_t k = 0; k < 4; ++k) {
      const std::string all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      const size_t digit = all.find(digits[i + k]);
      three = three << 6 | static_cast<uint32_t>(digit == all.npos ? 0 : digit);
    }
    for (const int shift : {16, 8, 0}) png += static_cast<char>(three >> shift);
  }
  png.resize(png.size() - count_of(digits, "="));
  const io::MemoryFile file;
  EXPECT_TRUE(
      array_equal(load_image(file.with(png)), image_grid(images, {.columns = 2, .scale = 3})));
}

TEST(ImageGrid, TextShadesEachPixel) {
  const Array images = array({0.0f, 0.3f, 0.5f, 0.7f, 1.0f, 1.0f}).reshape({2, 1, 3});
  EXPECT_EQ(image_grid_text(images, {.columns = 1}), "  ░░▒▒\n\n▓▓████\n");
  EXPECT_EQ(image_grid_text(images, {.columns = 2}), "  ░░▒▒  ▓▓████\n");
  // Colours by how light they are; white that is not seen is black.
  const Array colours = array({255, 0, 0, 255, 0, 255, 0, 255, 255, 255, 255, 0});
  EXPECT_EQ(image_grid_text(colours.astype(uint8).reshape({1, 1, 3, 4})), "░░▒▒\n");
  EXPECT_THAT(message<ShapeError>([] { return image_grid_text(ones({2})); }),
              HasSubstr("image_grid_text: the pictures are f32[2]"));
}

TEST(ImageGrid, BadInput) {
  EXPECT_THROW(image_grid(ones({2, 2})), ShapeError);
  EXPECT_THROW(image_grid(ones({2, 2, 2, 5})), ShapeError);
  EXPECT_THROW(image_grid(ones({0, 2, 2})), ShapeError);
  EXPECT_THROW(image_grid(ones({1, 2, 2}, int32)), DtypeError);
  EXPECT_THROW(image_grid(ones({1, 2, 2}), {.scale = 0}), ValueError);
  EXPECT_THROW(image_grid(ones({1, 2, 2}), {.low = 1}), ValueError);
}

}  // namespace plot_test
}  // namespace spruce::data
