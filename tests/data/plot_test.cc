// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/plot.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "spruce/core/ops/ops.h"
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
