// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/grid_sample.h"

#include <array>
#include <limits>
#include <vector>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {
namespace {

// Coordinates of -1..1 as places of an axis of that size.
Array places(const Array& coordinate, int64_t size, bool align) {
  const auto n = static_cast<double>(size);
  return align ? (coordinate + 1) * ((n - 1) / 2) : ((coordinate + 1) * n - 1) / 2;
}

// Back into twice_low / 2 .. twice_high / 2 by mirrors at both ends.
Array reflected(const Array& x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return zeros_like(x);
  const double low = static_cast<double>(twice_low) / 2,
               span = static_cast<double>(twice_high - twice_low) / 2;
  const Array distance = abs(x - low), turns = floor(distance / span);
  const Array rest = distance - turns * span;
  return where(remainder(turns, 2) == 0, rest + low, span - rest + low);
}

// With PyTorch's derivative: borders count as outside.
Array clipped(const Array& x, int64_t size) {
  const auto most = static_cast<double>(size - 1);
  return clip(where((x > 0) & (x < most), x, stop_gradient(x)), 0, most);
}

Array padded(const Array& place, int64_t size, const GridSampleOptions& o) {
  if (o.padding_mode == GridSamplePadding::kBorder) return clipped(place, size);
  if (o.padding_mode == GridSamplePadding::kReflection) {
    return clipped(
        o.align_corners ? reflected(place, 0, 2 * (size - 1)) : reflected(place, -1, 2 * size - 1),
        size);
  }
  return place;
}

// One neighbour along one axis: a whole place, and how much it counts.
struct Tap {
  Array place, weight;
};

// The weights of cubic convolution for a place that lies `t` behind the second neighbour.
std::array<Array, 4> cubic_weights(const Array& t) {
  constexpr double kA = -0.75;
  const auto inner = [=](const Array& x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto outer = [=](const Array& x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
}

std::vector<Tap> taps_of(const Array& coordinate, int64_t size, const GridSampleOptions& o) {
  const Array raw = places(coordinate, size, o.align_corners);
  if (o.mode == GridSampleMode::kBicubic) {
    const Array low = floor(raw);
    const std::array<Array, 4> weights = cubic_weights(raw - low);
    std::vector<Tap> taps;
    for (int k = 0; k < 4; ++k)
      taps.push_back({padded(low + (k - 1), size, o), weights[static_cast<size_t>(k)]});
    return taps;
  }
  const Array place = padded(raw, size, o);
  if (o.mode == GridSampleMode::kNearest) return {{round(place), Array()}};
  const Array low = floor(place), share = place - low;
  return {{low, 1 - share}, {low + 1, share}};
}

// Reads elements of f[n, c, elements] at flat places f[n, m] that are whole.
class Reader {
 public:
  Reader(const Array& x, const Array& grid) : x_(x), axes_(x.rank() - 2) {
    flat_ = reshape(x, {x.shape()[0], x.shape()[1], x.size() / (x.shape()[0] * x.shape()[1])});
    count_ = grid.size() / (grid.shape()[0] * axes_);
  }
  int64_t count() const { return count_; }
  // f[n, c, m], zero outside.
  Array at(const std::vector<Array>& place) const {
    Array inside, index;
    int64_t stride = 1;
    for (int i = axes_ - 1; i >= 0; --i) {
      const Array& p = place[static_cast<size_t>(i)];
      const int64_t size = x_.shape()[2 + i];
      const Array here = (p >= 0) & (p <= static_cast<double>(size - 1));
      const Array step = astype(where(here, p, 0), int32) * stride;
      inside = inside.defined() ? inside & here : here;
      index = index.defined() ? index + step : step;
      stride *= size;
    }
    const Shape all{flat_.shape()[0], flat_.shape()[1], count_};
    const Array taken = rules::take_along(flat_, broadcast_to(expand_dims(index, 1), all), 2);
    return where(expand_dims(inside, 1), taken, 0);
  }

 private:
  const Array& x_;
  int axes_;
  Array flat_;
  int64_t count_ = 0;
};

void check_grid(const Array& x, const Array& grid, const GridSampleOptions& o) {
  spruce::internal::require_defined("grid_sample", "x", x, "grid", grid);
  const int axes = x.rank() - 2;
  const bool fits = (axes == 2 || axes == 3) && grid.rank() == x.rank() &&
                    grid.shape().back() == axes && grid.shape()[0] == x.shape()[0];
  if (!fits) {
    throw ShapeError("grid_sample: x is " + to_string(x.aval()) + ", grid is " +
                     to_string(grid.aval()) +
                     "; they must be f[n, c, h, w] and f[n, h', w', 2], or f[n, c, d, h, w] and "
                     "f[n, d', h', w', 3]");
  }
  int64_t elements = 1;
  for (int i = 2; i < x.rank(); ++i) elements *= x.shape()[i];
  if (elements == 0 || elements > std::numeric_limits<int32_t>::max()) {
    throw ShapeError("grid_sample: an image of x " + to_string(x.aval()) +
                     " must have elements, and fewer than 2^31");
  }
  if (!is_floating(x.dtype()) || x.dtype() != grid.dtype()) {
    throw DtypeError("grid_sample: x is " + to_string(x.aval()) + ", grid is " +
                     to_string(grid.aval()) +
                     "; both must be of one floating dtype, convert one with astype");
  }
  if (o.mode == GridSampleMode::kBicubic && axes != 2) {
    throw ValueError("grid_sample: mode kBicubic is of two spatial axes, got x " +
                     to_string(x.aval()));
  }
}

}  // namespace

Array GridSampleFunction::operator()(const Array& x, const Array& grid, const GridSampleOptions& o,
                                     Loc loc) const {
  const OpScope at("grid_sample", loc);
  const spruce::internal::SameDevice here(x);
  check_grid(x, grid, o);
  const int axes = x.rank() - 2;
  Shape shape{x.shape()[0], x.shape()[1]};
  for (int i = 0; i < axes; ++i) shape.push_back(grid.shape()[1 + i]);
  if (shape.numel() == 0) return zeros(shape, x.dtype());
  const Reader reader(x, grid);
  const Array flat = reshape(grid, {x.shape()[0], reader.count(), axes});
  std::vector<std::vector<Tap>> taps;  // of each axis of x; the grid has them the other way round
  for (int i = 0; i < axes; ++i)
    taps.push_back(taps_of(flat[{ellipsis, axes - 1 - i}], x.shape()[2 + i], o));
  // Every choice of one tap for each axis.
  int64_t choices = 1;
  for (const std::vector<Tap>& t : taps) choices *= static_cast<int64_t>(t.size());
  Array y;
  for (int64_t choice = 0; choice < choices; ++choice) {
    int64_t rest = choice;
    std::vector<Array> place;
    Array weight;
    for (const std::vector<Tap>& t : taps) {
      const Tap& tap = t[static_cast<size_t>(rest % static_cast<int64_t>(t.size()))];
      rest /= static_cast<int64_t>(t.size());
      place.push_back(tap.place);
      if (tap.weight.defined()) weight = weight.defined() ? weight * tap.weight : tap.weight;
    }
    Array part = reader.at(place);
    if (weight.defined()) part = part * expand_dims(weight, 1);
    y = y.defined() ? y + part : part;
  }
  return reshape(y, shape);
}

Array AffineGridFunction::operator()(const Array& theta, const Shape& size,
                                     const AffineGridOptions& o, Loc loc) const {
  const OpScope at("affine_grid", loc);
  const spruce::internal::SameDevice here(theta);
  spruce::internal::require_defined("affine_grid", "theta", theta);
  const int axes = size.rank() - 2;
  const bool fits = (axes == 2 || axes == 3) && theta.shape() == Shape{size[0], axes, axes + 1};
  if (!fits) {
    throw ShapeError("affine_grid: theta is " + to_string(theta.aval()) + ", size is " +
                     to_string(size) +
                     "; they must be f[n, 2, 3] and {n, c, h, w}, or f[n, 3, 4] and {n, c, d, h, "
                     "w}");
  }
  Shape spatial;
  for (int i = 0; i < axes; ++i) spatial.push_back(size[2 + i]);
  std::vector<Array> coordinates;
  for (int i = axes - 1; i >= 0; --i) {
    const int64_t n = spatial[i];
    const auto count = static_cast<double>(n);
    Array line = n > 1 ? linspace(-1, 1, n, {.dtype = theta.dtype()}) : zeros({n}, theta.dtype());
    if (!o.align_corners && n > 1) line = line * ((count - 1) / count);
    Shape along = Shape::filled(axes, 1);
    along[i] = n;
    coordinates.push_back(broadcast_to(reshape(line, along), spatial));
  }
  coordinates.push_back(ones(spatial, theta.dtype()));
  const Array points = reshape(stack(coordinates, -1), {spatial.numel(), axes + 1});
  // f[n, axes, points] with the axes behind.
  const Array moved = swapaxes(tensordot(theta, points, {2}, {1}), 1, 2);
  Shape shape{size[0]};
  for (const int64_t n : spatial) shape.push_back(n);
  shape.push_back(axes);
  return reshape(moved, shape);
}

}  // namespace spruce::nn
