// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/image_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/data/files/image.h"
#include "spruce/data/grey.h"
#include "spruce/data/plot/drawing.h"

namespace spruce::data {
namespace {

constexpr uint8_t kGrey = 128;

void check(const char* op, const Array& images, const ImageGridOptions& o) {
  const int rank = images.rank();
  if ((rank != 3 && rank != 4) || images.size() == 0 || (rank == 4 && images.shape(3) > 4)) {
    throw ShapeError(std::string(op) + ": the pictures are " + to_string(images.aval()) +
                     "; they must be [n, height, width] or [n, height, width, channels] with 1 to "
                     "4 channels, and at least one");
  }
  if (images.dtype() != uint8 && !is_floating(images.dtype()))
    throw DtypeError(std::string(op) + ": the pictures are " + to_string(images.aval()) +
                     "; they must be u8 or floating");
  if (o.columns < 0 || o.gap < 0 || o.scale < 1)
    throw ValueError(std::string(op) + ": columns " + std::to_string(o.columns) + ", gap " +
                     std::to_string(o.gap) + " and scale " + std::to_string(o.scale) +
                     " must not be negative, and scale at least 1");
  if (!(o.low < o.high))
    throw ValueError(std::string(op) + ": low " + spruce::internal::number_text(o.low) +
                     " must be below high, " + spruce::internal::number_text(o.high));
}

Array grid_of(const char* op, const Array& images, const ImageGridOptions& o, uint8_t gaps) {
  check(op, images, o);
  Array host = io::internal::saved_array(op, "images", images);
  if (is_floating(host.dtype())) {
    const Array share = (astype(host, float32) - o.low) / (o.high - o.low);
    const Array known = where(isnan(share), 0, clip(share, 0, 1));
    host = astype(known * 255 + 0.5, uint8);
  }
  const int64_t n = host.shape(0), h = host.shape(1), w = host.shape(2);
  const int64_t c = host.rank() == 4 ? host.shape(3) : 1;
  int64_t columns = o.columns;
  if (columns == 0)
    columns = static_cast<int64_t>(
        std::ceil(std::sqrt(static_cast<double>(n * h) / static_cast<double>(w))));
  columns = std::min(columns, n);
  const int64_t rows = (n + columns - 1) / columns;
  Shape shape{rows * (h * o.scale + o.gap) - o.gap, columns * (w * o.scale + o.gap) - o.gap};
  if (host.rank() == 4) shape.push_back(c);
  check_shape(op, shape, 1);

  const Array out = spruce::internal::make_array({uint8, false, shape});
  auto* to = static_cast<uint8_t*>(spruce::internal::mutable_data(out));
  std::fill(to, to + out.size(), gaps);
  const auto* from = static_cast<const uint8_t*>(io::internal::bytes_of(host));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t top = i / columns * (h * o.scale + o.gap);
    const int64_t left = i % columns * (w * o.scale + o.gap);
    for (int64_t y = 0; y < h * o.scale; ++y) {
      for (int64_t x = 0; x < w * o.scale; ++x) {
        const uint8_t* pixel = from + ((i * h + y / o.scale) * w + x / o.scale) * c;
        std::copy(pixel, pixel + c, to + ((top + y) * shape[1] + left + x) * c);
      }
    }
  }
  return out;
}

// RFC 4648.
std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

// How light a pixel is, from 0 to 255.
double light_of(const uint8_t* pixel, int64_t channels) {
  const double grey = channels < 3
                          ? pixel[0]
                          : internal::kGreyOf[0] * pixel[0] + internal::kGreyOf[1] * pixel[1] +
                                internal::kGreyOf[2] * pixel[2];
  return channels % 2 == 0 ? grey * pixel[channels - 1] / 255 : grey;
}

}  // namespace

Array image_grid(const Array& images, const ImageGridOptions& o, Loc loc) {
  const OpScope at("image_grid", loc);
  return grid_of("image_grid", images, o, kGrey);
}

std::string image_grid_svg(const Array& images, const ImageGridOptions& o, Loc loc) {
  const OpScope at("image_grid_svg", loc);
  const Array grid = grid_of("image_grid_svg", images, o, kGrey);
  const std::string size =
      std::to_string(grid.shape(1)) + "\" height=\"" + std::to_string(grid.shape(0));
  return internal::svg_around(
      static_cast<double>(grid.shape(1)), static_cast<double>(grid.shape(0)),
      "<image width=\"" + size +
          "\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64," +
          base64(internal::encode_png("image_grid_svg", grid)) + "\"/>\n");
}

std::string image_grid_text(const Array& images, const ImageGridOptions& o, Loc loc) {
  const OpScope at("image_grid_text", loc);
  constexpr const char* kShades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  const Array grid = grid_of("image_grid_text", images, o, 0);
  const int64_t channels = grid.rank() == 3 ? grid.shape(2) : 1;
  const auto* pixel = static_cast<const uint8_t*>(io::internal::bytes_of(grid));
  std::string out;
  for (int64_t y = 0; y < grid.shape(0); ++y) {
    for (int64_t x = 0; x < grid.shape(1); ++x, pixel += channels)
      out += kShades[static_cast<size_t>(light_of(pixel, channels) * 5 / 256)];
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  return out;
}

}  // namespace spruce::data
