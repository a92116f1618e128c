// SPDX-License-Identifier: Apache-2.0
// A drawing of lines, squares and text, which becomes SVG or pixels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data::internal {

/// Places are in units, to the right and down from the top left; a colour is 0xrrggbb.
using Colour = uint32_t;
inline constexpr Colour kBlack = 0, kPaleGrey = 0xdddddd, kBlue = 0x1f77b4, kWhite = 0xffffff;

/// A line of 1 unit's width from left to right or from top to bottom.
struct Line {
  double x1, y1, x2, y2;
  Colour colour;
};
/// Lines of 1.5 units' width from point to point, each run of points by itself.
struct Polyline {
  std::vector<std::vector<std::pair<double, double>>> runs;
  Colour colour;
};
/// A rectangle with a pale outline.
struct Box {
  double x, y, width, height;
  Colour colour;
  double opacity;  // from 0 to 1
};
/// Text that stands on y and begins, has its middle or ends at x.
struct Label {
  enum Anchor { kStart, kMiddle, kEnd };
  double x, y;
  Anchor anchor;
  std::string text;
  Colour colour = kBlack;
  bool upward = false;  // rotated by 90 degrees about (x, y): its first letter is the lowest
};

/// What is drawn, from the back to the front, on white.
struct Drawing {
  double width, height;
  std::vector<std::variant<Line, Polyline, Box, Label>> parts = {};
};

/// "%.6g".
std::string text_of(double x);
/// The drawing as SVG.
std::string svg_of(const Drawing& drawing);
/// The SVG of a size around what stands within it.
std::string svg_around(double width, double height, const std::string& body);
/// The drawing as u8[2 * height, 2 * width, 3], two pixels to a unit.
Array pixels_of(const Drawing& drawing);

/// Rows of a letter from the top, 7 of them, 5 bits each, the leftmost the highest. Bytes that are
/// not ASCII are a box.
const uint8_t* letter_of(unsigned char c);

}  // namespace spruce::data::internal
