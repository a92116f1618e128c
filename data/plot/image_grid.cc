// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/image_grid.h"

#include <cmath>

#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"

namespace spruce::data {
namespace {

constexpr const char* kOp = "image_grid";
constexpr uint8_t kGrey = 128;

void check(const Array& images, const ImageGridOptions& o) {
  const int rank = images.rank();
  if ((rank != 3 && rank != 4) || images.size() == 0 || (rank == 4 && images.shape(3) > 4)) {
    throw ShapeError(std::string(kOp) + ": the pictures are " + to_string(images.aval()) +
                     "; they must be [n, height, width] or [n, height, width, channels] with 1 to "
                     "4 channels, and at least one");
  }
  if (images.dtype() != uint8 && !is_floating(images.dtype()))
    throw DtypeError(std::string(kOp) + ": the pictures are " + to_string(images.aval()) +
                     "; they must be u8 or floating");
  if (o.columns < 0 || o.gap < 0 || o.scale < 1)
    throw ValueError(std::string(kOp) + ": columns " + std::to_string(o.columns) + ", gap " +
                     std::to_string(o.gap) + " and scale " + std::to_string(o.scale) +
                     " must not be negative, and scale at least 1");
  if (!(o.low < o.high))
    throw ValueError(std::string(kOp) + ": low " + spruce::internal::number_text(o.low) +
                     " must be below high, " + spruce::internal::number_text(o.high));
}

}  // namespace

Array image_grid(const Array& images, const ImageGridOptions& o, Loc loc) {
  const OpScope at(kOp, loc);
  check(images, o);
  Array host = io::internal::saved_array(kOp, "images", images);
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
  check_shape(kOp, shape, 1);

  const Array out = spruce::internal::make_array({uint8, false, shape});
  auto* to = static_cast<uint8_t*>(spruce::internal::mutable_data(out));
  std::fill(to, to + out.size(), kGrey);
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

}  // namespace spruce::data
