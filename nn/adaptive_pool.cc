// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/adaptive_pool.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/pool_windows.h"
#include "spruce/nn/spatial_axes.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/derive/custom.h"

namespace spruce::nn {
namespace {

template <int kAxes>
constexpr const char* kAvgName = internal::axes_name<kAxes>("adaptive_avg_pool1d",
                                                            "adaptive_avg_pool2d",
                                                            "adaptive_avg_pool3d");
template <int kAxes>
constexpr const char* kMaxName = internal::axes_name<kAxes>("adaptive_max_pool1d",
                                                            "adaptive_max_pool2d",
                                                            "adaptive_max_pool3d");
template <int kAxes>
constexpr const char* kIndicesName = internal::axes_name<kAxes>("adaptive_max_pool1d_with_indices",
                                                                "adaptive_max_pool2d_with_indices",
                                                                "adaptive_max_pool3d_with_indices");

// The windows of one axis.
struct Windows {
  int64_t size, count;  // of the axis, of windows
  int64_t longest = 0;
  std::vector<int64_t> starts = {}, lengths = {};

  Windows(int64_t n, int64_t windows) : size(n), count(windows) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = i * size / count, stop = ((i + 1) * size + count - 1) / count;
      starts.push_back(start);
      lengths.push_back(stop - start);
      longest = std::max(longest, stop - start);
    }
  }
  bool even() const { return size % count == 0; }
  // [count * longest]: the elements of each window. Where it is shorter: `missing`, or the last one
  // again.
  std::vector<int64_t> elements(std::optional<int64_t> missing = {}) const {
    std::vector<int64_t> out;
    for (size_t i = 0; i < starts.size(); ++i) {
      for (int64_t k = 0; k < longest; ++k) {
        const int64_t last = lengths[i] - 1;
        out.push_back(k > last && missing ? *missing : starts[i] + std::min(k, last));
      }
    }
    return out;
  }
};

std::vector<Windows> windows_of(const char* op, int axes, const Array& x,
                                const WindowArg& output_size) {
  spruce::internal::require_defined(op, "x", x);
  internal::require_spatial_axes(op, axes, x);
  const Shape given = output_size.resolve(op, "output_size", axes, -1);
  std::vector<Windows> out;
  for (int i = 0; i < axes; ++i) {
    const int64_t n = x.shape()[x.rank() - axes + i];
    if (given[i] == 0 || n == 0) {
      throw ShapeError(std::string(op) + ": output_size " + to_string(given) + " of x " +
                       to_string(x.aval()) +
                       "; windows and the axes that they are of must not be empty, -1 leaves an "
                       "axis as it is");
    }
    out.emplace_back(n, given[i] == -1 ? n : given[i]);
  }
  return out;
}

bool all_even(const std::vector<Windows>& windows) {
  return std::all_of(windows.begin(), windows.end(), [](const Windows& w) { return w.even(); });
}

// The axes that are not pooled.
Shape lead_of(const Array& x, size_t axes) {
  Shape out;
  for (int i = 0; i < x.rank() - static_cast<int>(axes); ++i) out.push_back(x.shape()[i]);
  return out;
}

// Each spatial axis as two: the windows, and the elements of one.
Array cut(const Array& x, const std::vector<Windows>& windows) {
  Shape shape = lead_of(x, windows.size());
  const int lead = shape.rank();
  Array y = x;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (!windows[i].even())
      y = rules::take_axis(y, array(windows[i].elements()), lead + static_cast<int>(i));
    shape.push_back(windows[i].count);
    shape.push_back(windows[i].longest);
  }
  return reshape(y, shape);
}

// The sum or the maximum of the windows of one axis. A window is a list of rows: what one place on
// the axis holds. Compiled, they are read where they stand.
Array reduced_axis(const Array& x, int axis, const Windows& w, bool largest) {
  constexpr int64_t kShort = 17;  // shorter rows the axis in front makes longer
  int64_t lead = 1, row = 1;
  for (int i = 0; i < x.rank(); ++i) (i < axis ? lead : row) *= i == axis ? 1 : x.shape()[i];
  const bool transposed = row < kShort && lead > 1;
  Array rows = reshape(x, {lead, w.size, row});
  if (transposed) rows = transpose(rows, {1, 0, 2});
  const int64_t lists = transposed ? 1 : lead, length = transposed ? lead * row : row;
  const int64_t all = lists * w.size;
  // In front of the array where a window is shorter: there a gather reads zeros.
  const Array within =
      astype(array(w.elements(largest ? std::nullopt : std::optional<int64_t>(-all))),
             all <= std::numeric_limits<int32_t>::max() ? int32 : int64);
  const Array firsts = w.size * expand_dims(arange(lists, within.dtype()), -1);
  const Array places = reshape(firsts + within, {lists * w.count, w.longest, 1});
  rows = reshape(rows, {all, length});
  GatherParams p = rules::take_params(rows.shape(), 0, 2);
  p.clip = false;
  rows = bind1(gather_p, {rows, places}, Params::make(p));
  Array y = reshape(largest ? max(rows, 1) : sum(rows, 1),
                    transposed ? Shape{w.count, lead, row} : Shape{lead, w.count, row});
  if (transposed) y = transpose(y, {1, 0, 2});
  Shape shape = x.shape();
  shape[axis] = w.count;
  return reshape(y, shape);
}

Array average(const Array& x, const std::vector<Windows>& windows) {
  const int lead = x.rank() - static_cast<int>(windows.size());
  if (all_even(windows)) {
    Axes within;
    for (size_t i = 0; i < windows.size(); ++i)
      within.push_back(lead + 2 * static_cast<int>(i) + 1);
    return mean(cut(x, windows), within);
  }
  Array y = is_floating(x.dtype()) ? internal::wide(x) : astype(x, float32);
  for (size_t i = 0; i < windows.size(); ++i)
    y = reduced_axis(y, lead + static_cast<int>(i), windows[i], false);
  for (size_t i = 0; i < windows.size(); ++i) {
    Shape along = Shape::filled(static_cast<int>(windows.size() - i), 1);
    along[0] = windows[i].count;
    y = y / reshape(astype(array(windows[i].lengths), y.dtype()), along);
  }
  return internal::narrow(y, x.dtype());
}

WindowArg even_kernel(const std::vector<Windows>& windows) {
  Shape kernel;
  for (const Windows& w : windows) kernel.push_back(w.longest);
  return kernel;
}

// For windows that overlap.
MaxPoolResult uneven_max(const Array& x, const std::vector<Windows>& windows) {
  const int axes = static_cast<int>(windows.size()), lead = x.rank() - axes;
  Axes order;
  Shape shape = lead_of(x, windows.size());
  int64_t elements = 1;
  for (int i = 0; i < lead; ++i) order.push_back(i);
  for (int i = 0; i < axes; ++i) {
    order.push_back(lead + 2 * i);
    shape.push_back(windows[static_cast<size_t>(i)].count);
    elements *= windows[static_cast<size_t>(i)].longest;
  }
  for (int i = 0; i < axes; ++i) order.push_back(lead + 2 * i + 1);
  shape.push_back(elements);
  const Array y = reshape(transpose(cut(x, windows), order), shape);
  const Array which = argmax(y, -1, {.keepdims = true});
  // Of equal elements the first was taken, so none that is repeated.
  const Dtype dtype = internal::place_dtype(x, axes);
  Array rest = squeeze(which, -1), places = zeros({}, dtype);
  int64_t stride = 1;
  for (int i = axes - 1; i >= 0; --i) {
    const Windows& w = windows[static_cast<size_t>(i)];
    Shape along = Shape::filled(axes, 1);
    along[i] = w.count;
    const Array starts = reshape(astype(array(w.starts), dtype), along);
    places = places + (starts + rest % w.longest) * stride;
    rest = floor_divide(rest, w.longest);
    stride *= w.size;
  }
  return {squeeze(rules::take_along(y, which, y.rank() - 1), -1), places};
}

// The maxima alone. The tangent is that of the first largest element.
Array uneven_maxima(const Array& x, const std::vector<Windows>& windows) {
  const int axes = static_cast<int>(windows.size());
  const auto f = [windows, axes](const Array& a) {
    Array y = a;
    for (int i = 0; i < axes; ++i)
      y = reduced_axis(y, y.rank() - axes + i, windows[static_cast<size_t>(i)], true);
    return y;
  };
  const auto rule = [windows, axes](const std::tuple<Array>& primals,
                                    const std::tuple<Array>& tangents) {
    const MaxPoolResult r = uneven_max(std::get<0>(primals), windows);
    const auto flat = [&](const Array& a) {
      Shape shape = lead_of(a, windows.size());
      shape.push_back(-1);
      return reshape(a, shape);
    };
    const Array t = flat(std::get<0>(tangents));
    const Array taken = rules::take_along(t, flat(r.indices), t.rank() - 1);
    return std::pair<Array, Array>{r.output, reshape(taken, r.output.shape())};
  };
  return custom_jvp(f, rule)(x);
}

}  // namespace

template <int kAxes>
Array AdaptiveAvgPoolFunction<kAxes>::operator()(const Array& x, const WindowArg& output_size,
                                                 Loc loc) const {
  const OpScope at(kAvgName<kAxes>, loc);
  const spruce::internal::SameDevice here(x);
  return average(x, windows_of(kAvgName<kAxes>, kAxes, x, output_size));
}

template <int kAxes>
Array AdaptiveMaxPoolFunction<kAxes>::operator()(const Array& x, const WindowArg& output_size,
                                                 Loc loc) const {
  const OpScope at(kMaxName<kAxes>, loc);
  const spruce::internal::SameDevice here(x);
  const std::vector<Windows> windows = windows_of(kMaxName<kAxes>, kAxes, x, output_size);
  if (!all_even(windows)) return uneven_maxima(x, windows);
  const internal::PoolWindows w =
      internal::pool_windows(kMaxName<kAxes>, kAxes, x, even_kernel(windows), Shape{}, 0, 1, false);
  return reduce_window_max(x, internal::window_params(w, x.rank(), false));
}

template <int kAxes>
MaxPoolResult AdaptiveMaxPoolWithIndicesFunction<kAxes>::operator()(const Array& x,
                                                                    const WindowArg& output_size,
                                                                    Loc loc) const {
  const OpScope at(kIndicesName<kAxes>, loc);
  const spruce::internal::SameDevice here(x);
  const std::vector<Windows> windows = windows_of(kIndicesName<kAxes>, kAxes, x, output_size);
  if (!all_even(windows)) return uneven_max(x, windows);
  return MaxPoolWithIndicesFunction<kAxes>{}(x, even_kernel(windows));
}

template struct AdaptiveAvgPoolFunction<1>;
template struct AdaptiveAvgPoolFunction<2>;
template struct AdaptiveAvgPoolFunction<3>;
template struct AdaptiveMaxPoolFunction<1>;
template struct AdaptiveMaxPoolFunction<2>;
template struct AdaptiveMaxPoolFunction<3>;
template struct AdaptiveMaxPoolWithIndicesFunction<1>;
template struct AdaptiveMaxPoolWithIndicesFunction<2>;
template struct AdaptiveMaxPoolWithIndicesFunction<3>;

}  // namespace spruce::nn
