// SPDX-License-Identifier: Apache-2.0
// Drawings as pixels, with edges that are blended.
#include <algorithm>
#include <cmath>

#include "spruce/data/plot/drawing.h"

namespace spruce::data::internal {
namespace {

constexpr int64_t kScale = 2;  // pixels to a unit
constexpr int64_t kLetterWidth = 6 * kScale;
constexpr int64_t kFar = 1'000'000'000;

class Canvas {
 public:
  explicit Canvas(const Drawing& d)
      : width_(std::llround(d.width * kScale)),
        height_(std::llround(d.height * kScale)),
        bytes_(static_cast<size_t>(width_ * height_ * 3), 255) {}

  void draw(const Line& l) { stroke(l.x1, l.y1, l.x2, l.y2, 1, l.colour); }
  void draw(const Polyline& p) {
    for (const auto& run : p.runs) {
      for (size_t i = 0; i + 1 < run.size(); ++i)
        stroke(run[i].first, run[i].second, run[i + 1].first, run[i + 1].second, 1.5, p.colour);
    }
  }
  void draw(const Box& b) {
    const int64_t left = pixel(b.x), top = pixel(b.y), right = pixel(b.x + b.width),
                  bottom = pixel(b.y + b.height);
    for (int64_t y = top; y <= bottom; ++y) {
      for (int64_t x = left; x <= right; ++x) {
        const bool edge = x == left || x == right || y == top || y == bottom;
        blend(x, y, edge ? kPaleGrey : b.colour, edge ? 1 : b.opacity);
      }
    }
  }
  void draw(const Label& l) {
    std::string letters;  // one for each code point of UTF-8
    for (const char c : l.text)
      if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) letters += c;
    const int64_t length = static_cast<int64_t>(letters.size()) * kLetterWidth - kScale;
    const int64_t before = l.anchor == Label::kStart    ? 0
                           : l.anchor == Label::kMiddle ? length / 2
                                                        : length;
    const int64_t x0 = pixel(l.x), y0 = pixel(l.y), high = 7 * kScale;
    for (size_t i = 0; i < letters.size(); ++i) {
      const uint8_t* rows = letter_of(static_cast<unsigned char>(letters[i]));
      for (int64_t down = 0; down < high; ++down) {
        for (int64_t right = 0; right < 5 * kScale; ++right) {
          if ((rows[down / kScale] >> (4 - right / kScale) & 1) == 0) continue;
          const int64_t along = static_cast<int64_t>(i) * kLetterWidth + right - before;
          if (l.upward)
            blend(x0 - high + down, y0 - along, l.colour, 1);
          else
            blend(x0 + along, y0 - high + down, l.colour, 1);
        }
      }
    }
  }

  Array array() const { return spruce::array(bytes_, {height_, width_, 3}); }

 private:
  // A place far outside of the canvas, or none at all, is not drawn.
  static bool is_near(double at) { return std::abs(at) < 1e9; }
  static int64_t pixel(double at) { return is_near(at) ? std::llround(at * kScale) : -kFar; }

  void blend(int64_t x, int64_t y, Colour colour, double opacity) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    uint8_t* to = bytes_.data() + (y * width_ + x) * 3;
    for (int c = 0; c < 3; ++c) {
      const auto own = static_cast<double>(colour >> (16 - 8 * c) & 255);
      to[c] = static_cast<uint8_t>(std::lround(to[c] + opacity * (own - to[c])));
    }
  }

  // Each pixel is covered by how near its middle is to the line. Runs over the longer side, and
  // there over the pixels that the line can reach.
  void stroke(double x1, double y1, double x2, double y2, double wide, Colour colour) {
    if (!is_near(x1) || !is_near(y1) || !is_near(x2) || !is_near(y2)) return;
    x1 *= kScale, y1 *= kScale, x2 *= kScale, y2 *= kScale;
    const bool steep = std::abs(y2 - y1) > std::abs(x2 - x1);
    if (steep) std::swap(x1, y1), std::swap(x2, y2);
    if (x1 > x2) std::swap(x1, x2), std::swap(y1, y2);
    const double dx = x2 - x1, dy = y2 - y1, squared = dx * dx + dy * dy;
    const double reach = wide * kScale / 2 + 0.5;  // beyond it nothing is covered
    const auto most = static_cast<double>(steep ? height_ : width_);
    const auto from = static_cast<int64_t>(std::floor(std::max(x1 - reach, 0.0)));
    const auto to = static_cast<int64_t>(std::ceil(std::min(x2 + reach, most)));
    const double slope = dx > 0 ? dy / dx : 0;
    for (int64_t i = from; i < to; ++i) {
      const double px = static_cast<double>(i) + 0.5;
      const double middle = y1 + slope * (std::clamp(px, x1, x2) - x1);
      const auto low = static_cast<int64_t>(std::floor(middle - 1.5 * reach));
      const auto high = static_cast<int64_t>(std::ceil(middle + 1.5 * reach));
      for (int64_t k = low; k < high; ++k) {
        const double py = static_cast<double>(k) + 0.5;
        const double along =
            squared > 0 ? std::clamp(((px - x1) * dx + (py - y1) * dy) / squared, 0.0, 1.0) : 0;
        const double away = std::hypot(px - x1 - along * dx, py - y1 - along * dy);
        const double covered = std::min(1.0, reach - away);
        if (covered > 0) blend(steep ? k : i, steep ? i : k, colour, covered);
      }
    }
  }

  int64_t width_, height_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

Array pixels_of(const Drawing& drawing) {
  Canvas canvas(drawing);
  for (const auto& part : drawing.parts) std::visit([&](const auto& p) { canvas.draw(p); }, part);
  return canvas.array();
}

}  // namespace spruce::data::internal
