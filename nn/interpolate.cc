// SPDX-License-Identifier: Apache-2.0
// Every mode but kArea is separable: along each axis, an element is a weighted sum of a few of the
// input, whose places and weights are known from the sizes. They are gathered, or read by slices
// where they repeat.
#include "spruce/nn/interpolate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/nn/adaptive_pool.h"

namespace spruce::nn {
namespace {

// One axis: element i is the sum over k of weights[k][i] x[places[k][i]]. No weights: x[places].
struct Resampling {
  std::vector<std::vector<int64_t>> places;
  std::vector<std::vector<double>> weights;

  Resampling(size_t taps, int64_t out)
      : places(taps, std::vector<int64_t>(static_cast<size_t>(out))),
        weights(taps, std::vector<double>(static_cast<size_t>(out))) {}
};

struct AxisSizes {
  int64_t in, out;
  double factor;  // the scale factor that counts; 0: none
  bool align;

  // How far apart elements of the result stand in the input.
  double step() const {
    if (align) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
  }
  // Where element i stands in the input.
  double source(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align ? step() * at : step() * (at + 0.5) - 0.5;
  }
};

// In f32, as PyTorch: at a tie another place would be taken.
Resampling nearest(const AxisSizes& a, bool exact) {
  Resampling r(1, a.out);
  r.weights.clear();
  const float step = a.factor > 0 ? static_cast<float>(1 / a.factor)
                                  : static_cast<float>(a.in) / static_cast<float>(a.out);
  for (int64_t i = 0; i < a.out; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    r.places[0][static_cast<size_t>(i)] = std::min(static_cast<int64_t>(std::floor(at)), a.in - 1);
  }
  return r;
}

// Keys' kernel with the parameter a, at distance x.
double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// A place, which may be outside of the axis: it goes on there as it ends. And the weight there.
struct WeightedTap {
  int64_t place;
  double weight;
};

// What an element is made of that stands there in the input.
std::vector<WeightedTap> taps_at(double at, bool is_cubic) {
  const auto low = static_cast<int64_t>(std::floor(at));
  const double share = at - static_cast<double>(low);
  if (!is_cubic) return {{low, 1 - share}, {low + 1, share}};
  std::vector<WeightedTap> out;
  for (int k = -1; k < 3; ++k) out.push_back({low + k, cubic_weight(share - k, -0.75)});
  return out;
}

Resampling between(const AxisSizes& a, bool is_cubic) {
  Resampling r(is_cubic ? 4 : 2, a.out);
  for (int64_t i = 0; i < a.out; ++i) {
    const std::vector<WeightedTap> taps = taps_at(a.source(i), is_cubic);
    for (size_t k = 0; k < taps.size(); ++k) {
      r.places[k][static_cast<size_t>(i)] = std::clamp<int64_t>(taps[k].place, 0, a.in - 1);
      r.weights[k][static_cast<size_t>(i)] = taps[k].weight;
    }
  }
  return r;
}

// A filter that is as wide as the elements of the result, with weights that sum to one.
Resampling smoothed(const AxisSizes& a, bool is_cubic) {
  const double step = a.step(), wide = std::max(step, 1.0), reach = (is_cubic ? 2 : 1) * wide;
  const auto taps = static_cast<size_t>(std::ceil(reach)) * 2 + 1;
  Resampling r(taps, a.out);
  for (int64_t i = 0; i < a.out; ++i) {
    const double center = step * (static_cast<double>(i) + 0.5);
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - reach + 0.5), 0),
                  last = std::min(static_cast<int64_t>(center + reach + 0.5), a.in);
    double total = 0;
    for (size_t k = 0; k < taps; ++k) {
      const int64_t place = first + static_cast<int64_t>(k);
      const double x = (static_cast<double>(place) - center + 0.5) / wide;
      const double weight = is_cubic ? cubic_weight(x, -0.5) : std::max(1 - std::abs(x), 0.0);
      r.places[k][static_cast<size_t>(i)] = place < last ? place : first;
      r.weights[k][static_cast<size_t>(i)] = place < last ? weight : 0;
      total += r.weights[k][static_cast<size_t>(i)];
    }
    if (total == 0) continue;
    for (size_t k = 0; k < taps; ++k) r.weights[k][static_cast<size_t>(i)] /= total;
  }
  return r;
}

Array resampled(const Array& x, int axis, const Resampling& r) {
  if (r.weights.empty()) return rules::take_axis(x, array(r.places[0]), axis);
  Shape along = Shape::filled(x.rank() - axis, 1);
  along[0] = static_cast<int64_t>(r.places[0].size());
  Array y;
  for (size_t k = 0; k < r.places.size(); ++k) {
    const Array weights = reshape(astype(array(r.weights[k]), x.dtype()), along);
    const Array part = rules::take_axis(x, array(r.places[k]), axis) * weights;
    y = y.defined() ? y + part : part;
  }
  return y;
}

void check_mode(const Array& x, int axes, const InterpolateOptions& o) {
  const bool smooth = o.mode == InterpolateMode::kLinear || o.mode == InterpolateMode::kBicubic;
  if (o.mode == InterpolateMode::kBicubic && axes != 2) {
    throw ValueError("interpolate: mode kBicubic is of two spatial axes, got x " +
                     to_string(x.aval()));
  }
  if (o.align_corners && !smooth) {
    throw ValueError("interpolate: align_corners is of the modes kLinear and kBicubic");
  }
  if (o.antialias && !(smooth && axes == 2)) {
    throw ValueError(
        "interpolate: antialias is of the modes kLinear and kBicubic over two spatial axes");
  }
}

std::vector<AxisSizes> sizes_of(const Array& x, int axes, const InterpolateOptions& o) {
  std::vector<double> factors = o.scale_factor.values();
  if (o.size.empty() == factors.empty()) {
    throw ValueError("interpolate: give one of size and scale_factor");
  }
  Shape size;
  if (factors.empty()) {
    size = o.size.resolve("interpolate", "size", axes, 1);
    factors.assign(static_cast<size_t>(axes), 0);
  } else if (factors.size() == 1) {
    factors.assign(static_cast<size_t>(axes), factors[0]);
  }
  if (factors.size() != static_cast<size_t>(axes)) {
    throw ShapeError("interpolate: scale_factor has " + std::to_string(factors.size()) +
                     " entries, " + std::to_string(axes) +
                     " are needed, one for each spatial axis");
  }
  std::vector<AxisSizes> out;
  for (int i = 0; i < axes; ++i) {
    const int64_t in = x.shape()[2 + i];
    double factor = factors[static_cast<size_t>(i)];
    double wanted = 0;
    if (size.empty()) {
      spruce::internal::check_range("interpolate", "scale_factor", factor,
                                    spruce::internal::Range::kPositive);
      wanted = std::floor(static_cast<double>(in) * factor);
    } else {
      wanted = static_cast<double>(size[i]);
    }
    if (!(wanted >= 1 && wanted < 1e9) || in < 1) {
      throw ShapeError("interpolate: x " + to_string(x.aval()) + " would have " +
                       spruce::internal::number_text(wanted) + " elements along axis " +
                       std::to_string(2 + i) +
                       "; sizes before and after must be at least 1 and below 1e9");
    }
    out.push_back(
        {in, static_cast<int64_t>(wanted), o.recompute_scale_factor ? 0 : factor, o.align_corners});
  }
  return out;
}

Resampling resampling_of(const AxisSizes& a, const InterpolateOptions& o) {
  const bool is_cubic = o.mode == InterpolateMode::kBicubic;
  if (o.mode == InterpolateMode::kNearest) return nearest(a, false);
  if (o.mode == InterpolateMode::kNearestExact) return nearest(a, true);
  if (o.antialias) return smoothed(a, is_cubic);
  return between(a, is_cubic);
}

// An axis on which a few elements of the result stand again and again in the same way: for the taps
// of j, of which there are n, element q n + j is the sum of weight * x[place + q step].
struct Phases {
  int64_t step;
  std::vector<std::vector<WeightedTap>> taps;
};

std::optional<Phases> phases_of(const AxisSizes& a, const InterpolateOptions& o) {
  constexpr int64_t kMost = 4;  // each is slices of its own, and more in the gradient
  if (o.antialias) return std::nullopt;
  const bool is_nearest =
      o.mode == InterpolateMode::kNearest || o.mode == InterpolateMode::kNearestExact;
  int64_t n = 1;
  const auto steps = [&] { return std::round(a.step() * static_cast<double>(n)); };
  const auto repeats = [&] {
    const double off = std::abs(a.step() * static_cast<double>(n) - steps());
    return a.out % n == 0 && steps() >= 1 && off * static_cast<double>(a.out) < 1e-9;
  };
  while (n <= kMost && !repeats()) ++n;
  if (n > kMost || (n > 1 && steps() > 1)) return std::nullopt;
  Phases p{static_cast<int64_t>(steps()), {}};
  if (is_nearest) {
    const std::vector<int64_t> places = resampling_of(a, o).places[0];
    for (int64_t j = 0; j < n; ++j) p.taps.push_back({{places[static_cast<size_t>(j)], 1}});
    for (int64_t i = 0; i < a.out; ++i) {
      const int64_t at = places[static_cast<size_t>(i % n)] + i / n * p.step;
      if (places[static_cast<size_t>(i)] != std::min(at, a.in - 1)) return std::nullopt;
    }
    return p;
  }
  for (int64_t j = 0; j < n; ++j) {
    const double at = a.source(j), whole = std::round(at);
    p.taps.push_back(
        taps_at(std::abs(at - whole) < 1e-9 ? whole : at, o.mode == InterpolateMode::kBicubic));
  }
  return p;
}

// Of x[lead, n, row], its rows at `count` places from `first` on; in front of it stands its first
// row, behind it its last one.
Array rows_at(const Array& x, int64_t first, int64_t step, int64_t count) {
  const int64_t n = x.shape()[1];
  const auto below = [&](int64_t end) {  // how many places are in front of `end`
    return std::clamp<int64_t>((end - first + step - 1) / step, 0, count);
  };
  const int64_t in_front = first < 0 ? below(0) : 0, inside = first < n ? below(n) : 0;
  std::vector<Array> pieces;
  const auto repeated = [&](int64_t row, int64_t times) {
    if (times == 0) return;
    const Shape shape = {x.shape()[0], times, x.shape()[2]};
    pieces.push_back(broadcast_to(rules::slice_axis(x, 1, row, row + 1), shape));
  };
  repeated(0, in_front);
  if (inside > in_front) {
    const int64_t from = first + in_front * step;
    pieces.push_back(
        rules::slice_axis(x, 1, from, from + (inside - in_front - 1) * step + 1, step));
  }
  repeated(n - 1, count - inside);
  return pieces.size() == 1 ? pieces[0] : rules::concatenate_axis(pieces, 1);
}

// By slices, which compiled code computes in one loop.
Array resampled(const Array& x, int axis, const Phases& p, int64_t out) {
  const auto n = static_cast<int64_t>(p.taps.size());
  Shape shape = x.shape();
  int64_t lead = 1, row = 1;
  for (int i = 0; i < axis; ++i) lead *= shape[i];
  for (int i = axis + 1; i < x.rank(); ++i) row *= shape[i];
  const Array rows = reshape(x, {lead, shape[axis], row});
  std::vector<Array> phases;
  for (const std::vector<WeightedTap>& taps : p.taps) {
    Array y;
    for (const WeightedTap& t : taps) {
      if (t.weight == 0) continue;
      const Array part = rows_at(rows, t.place, p.step, out / n);
      const Array scaled = t.weight == 1 ? part : part * t.weight;
      y = y.defined() ? y + scaled : scaled;
    }
    phases.push_back(expand_dims(y, 2));
  }
  shape[axis] = out;
  return reshape(rules::concatenate_axis(phases, 2), shape);
}

Array area(const Array& x, const std::vector<AxisSizes>& sizes) {
  Shape out;
  for (const AxisSizes& a : sizes) out.push_back(a.out);
  if (sizes.size() == 1) return adaptive_avg_pool1d(x, out);
  return sizes.size() == 2 ? adaptive_avg_pool2d(x, out) : adaptive_avg_pool3d(x, out);
}

}  // namespace

Array InterpolateFunction::operator()(const Array& x, const InterpolateOptions& o, Loc loc) const {
  const OpScope at("interpolate", loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined("interpolate", "x", x);
  if (x.rank() < 3 || x.rank() > 5) {
    throw ShapeError("interpolate: takes f[n, c, d...] with one to three spatial axes, got " +
                     to_string(x.aval()));
  }
  if (!is_floating(x.dtype())) {
    throw DtypeError("interpolate: x must be floating, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  const int axes = x.rank() - 2;
  check_mode(x, axes, o);
  const std::vector<AxisSizes> sizes = sizes_of(x, axes, o);
  if (o.mode == InterpolateMode::kArea) return area(x, sizes);
  Array y = x;
  for (int i = axes - 1; i >= 0; --i) {
    const AxisSizes& a = sizes[static_cast<size_t>(i)];
    const std::optional<Phases> p = phases_of(a, o);
    y = p ? resampled(y, 2 + i, *p, a.out) : resampled(y, 2 + i, resampling_of(a, o));
  }
  return y;
}

}  // namespace spruce::nn
