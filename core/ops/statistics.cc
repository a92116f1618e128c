// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "spruce/core/default_device.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/known_values.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduction_parts.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

using internal::narrowed;
using internal::require_defined;
using internal::SameDevice;
using internal::widened;
using rules::convert;
using rules::scalar_of;

// Where a method reads for place `at` among sorted elements; between two for those that mix them.
Array chosen_place(const Array& at, std::string_view method) {
  if (method == "lower") return floor(at);
  if (method == "higher") return ceil(at);
  return method == "nearest" ? round(at) : at;
}

void check_quantile(const char* op, const Array& x, const Array& q, const Axes& axes, double most,
                    std::string_view method) {
  for (const int64_t axis : axes) {
    if (x.shape()[static_cast<int>(axis)] == 0)
      throw ShapeError(std::string(op) + ": no elements to choose from: " + to_string(x.aval()));
  }
  constexpr std::string_view kMethods[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods)) {
    throw ValueError(std::string(op) + ": method \"" + std::string(method) +
                     "\" is unknown; give \"linear\", \"lower\", \"higher\", \"midpoint\" or "
                     "\"nearest\"");
  }
  if (!internal::has_known_values(q)) return;
  const InterpreterScope now(nullptr);
  for (const double v : convert(internal::known_values(q), float64).to_vector<double>()) {
    if (!(v >= 0 && v <= most)) {
      throw ValueError(std::string(op) + ": q is " + std::to_string(v) + "; it must be from 0 to " +
                       (most == 1 ? "1" : "100"));
    }
  }
}

Array quantile_of(const char* op, const Array& x, const Array& given_q, double most,
                  const AxisArg& over, const QuantileOptions& options, bool skips_nan) {
  require_defined(op, "x", x, "q", given_q);
  const Axes axes = over.resolve(op, x.rank());
  check_quantile(op, x, given_q, axes, most, options.method);
  const Array sorted = sort(internal::as_rows(widened(x), axes), -1);
  const Dtype d = sorted.dtype();
  const int last = sorted.rank() - 1;
  const int64_t n = sorted.shape().back();
  const Array q = ravel(convert(given_q, d)) / scalar_of(d, most);
  // Places among the elements that count: f[..., 1] or one, against q [p].
  const Array missing = isnan(sorted);
  Array most_place = scalar_of(d, static_cast<double>(n - 1));
  if (skips_nan) {
    const Array there = count_nonzero(logical_not(missing), last, {.keepdims = true});
    most_place = maximum(convert(there, d) - scalar_of(d, 1), scalar_of(d, 0));
  }
  const Array at = chosen_place(q * most_place, options.method);
  const Array low = floor(at), high = ceil(at);
  const Dtype index = rules::count_dtype(n);
  const auto elements = [&](const Array& places) {
    const Array i = convert(places, index);
    return skips_nan ? take_along_axis(sorted, i, last) : take(sorted, i, last);
  };
  const Array share =
      options.method == "midpoint" ? where(equal(low, high), 0, 0.5 * ones_like(at)) : at - low;
  const Array below = elements(low), above = elements(high);
  // Equal neighbours may be infinite.
  Array y = where(equal(below, above), below, below + (above - below) * share);
  if (!skips_nan) {
    const Array broken = rules::slice_axis(missing, last, n - 1, n);
    y = where(broken, scalar_of(d, NAN), y);
  }
  // The axes of q come first.
  y = moveaxis(y, -1, 0);
  Shape shape = given_q.shape();
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = axes.contains(i);
    if (!reduced || options.keepdims) shape.push_back(reduced ? 1 : x.shape()[i]);
  }
  return narrowed(rules::reshaped(y, shape), x.dtype());
}

}  // namespace

Array QuantileFunction::operator()(const Array& x, const Array& q, const AxisArg& axes,
                                   const QuantileOptions& options, Loc loc) const {
  const OpScope at(name_, loc);
  return quantile_of(name_, x, q, whole_, axes, options, skips_nan_);
}

Array NanmedianFunction::operator()(const Array& x, const AxisArg& axes,
                                    const ReduceOptions& options, Loc loc) const {
  const OpScope at("nanmedian", loc);
  return quantile_of("nanmedian", x, 0.5, 1, axes, {.keepdims = options.keepdims}, true);
}

Array NanvarFunction::operator()(const Array& x, const AxisArg& axes, const VarOptions& options,
                                 Loc loc) const {
  const OpScope at("nanvar", loc);
  require_defined("nanvar", "x", x);
  const Array wide = widened(x), missing = isnan(wide);
  const Dtype d = wide.dtype();
  const Array zero = scalar_of(d, 0), values = where(missing, zero, wide);
  const Array count = convert(count_nonzero(logical_not(missing), axes, {.keepdims = true}), d);
  const Array mean = sum(values, axes, {.keepdims = true}) / count;
  const Array apart = where(missing, zero, values - mean);
  const Array squares = sum(apart * apart, axes, {.keepdims = options.keepdims});
  const Array divisor =
      rules::reshaped(count - scalar_of(d, static_cast<double>(options.ddof)), squares.shape());
  const Array y = squares / where(greater(divisor, zero), divisor, scalar_of(d, NAN));
  return narrowed(y, x.dtype());
}

Array NanstdFunction::operator()(const Array& x, const AxisArg& axes, const VarOptions& options,
                                 Loc loc) const {
  const OpScope at("nanstd", loc);
  return sqrt(nanvar(x, axes, options, loc));
}

namespace {

// Variables as rows: f[m, n].
Array variables(const char* op, const Array& x, bool rowvar) {
  require_defined(op, "x", x);
  if (x.rank() == 0 || x.rank() > 2) {
    throw ShapeError(std::string(op) + ": takes f[n] or f[m, n], got " + to_string(x.aval()) +
                     "; map over other axes with vmap");
  }
  const Array rows = x.rank() == 1 ? expand_dims(x, 0) : rowvar ? x : transpose(x);
  return widened(rows);
}

Array covariances(const Array& rows, int64_t ddof) {
  const Array apart = rows - mean(rows, 1, {.keepdims = true});
  const double n = static_cast<double>(rows.shape()[1] - ddof);
  return matmul(apart, transpose(apart)) / scalar_of(rows.dtype(), n);
}

}  // namespace

Array CovFunction::operator()(const Array& x, const CovOptions& options, Loc loc) const {
  const OpScope at("cov", loc);
  const Array y = covariances(variables("cov", x, options.rowvar), options.ddof);
  return narrowed(y.shape()[0] == 1 && x.rank() == 1 ? rules::reshaped(y, {}) : y, x.dtype());
}

Array CorrcoefFunction::operator()(const Array& x, const CovOptions& options, Loc loc) const {
  const OpScope at("corrcoef", loc);
  const Array y = covariances(variables("corrcoef", x, options.rowvar), 0);
  const Array deviation = sqrt(diagonal(y));
  const Array c = y / (expand_dims(deviation, 1) * deviation);
  return narrowed(x.rank() == 1 ? rules::reshaped(c, {}) : clip(c, -1, 1), x.dtype());
}

namespace {

Histogram counted(const Array& x, const Array& edges, const HistogramOptions& options) {
  const int64_t bins = edges.size() - 1;
  const Array values = ravel(x);
  const Dtype index = rules::count_dtype(bins + 1);
  const Array last = rules::slice_axis(edges, 0, bins, bins + 1);
  const Array ranks = convert(searchsorted(edges, values, {.right = true}), index);
  const Array bin = where(equal(values, last), scalar_of(index, static_cast<double>(bins)), ranks);
  // Places 0 and bins + 1 are outside of all; NaN belongs behind the last.
  Array ones = ones_like(values);
  if (options.weights.defined()) {
    if (!(options.weights.shape() == x.shape())) {
      throw ShapeError("histogram: the weights " + to_string(options.weights.aval()) +
                       " differ in shape from " + to_string(x.aval()));
    }
    ones = convert(ravel(options.weights), values.dtype());
  }
  const SameDevice here(x);
  const Array all = zeros({bins + 2}, values.dtype()).at(bin).add(ones);
  Array counts = rules::slice_axis(all, 0, 1, bins + 1);
  if (options.density) counts = counts / (diff(edges) * sum(counts));
  return {counts, edges};
}

}  // namespace

Histogram HistogramFunction::operator()(const Array& x, int64_t bins,
                                        const HistogramOptions& options, Loc loc) const {
  const OpScope at("histogram", loc);
  require_defined("histogram", "x", x);
  if (bins < 1) {
    throw ValueError("histogram: " + std::to_string(bins) + " bins; give 1 or more");
  }
  const Array values = widened(x);
  const SameDevice here(x);
  const Dtype d = values.dtype();
  Array low = scalar_of(d, 0), high = scalar_of(d, 1);
  if (options.range) {
    low = scalar_of(d, options.range->first), high = scalar_of(d, options.range->second);
    if (!(options.range->first <= options.range->second)) {
      throw ValueError("histogram: the range from " + std::to_string(options.range->first) +
                       " to " + std::to_string(options.range->second) + " does not rise");
    }
  } else if (x.size() > 0) {
    low = min(values), high = max(values);
  }
  const Array none_wide = equal(low, high);
  low = where(none_wide, low - 0.5, low), high = where(none_wide, high + 0.5, high);
  const Array share = linspace(0, 1, bins + 1, {.dtype = d});
  return counted(values, low * (scalar_of(d, 1) - share) + high * share, options);
}

Histogram HistogramFunction::operator()(const Array& x, const Array& edges,
                                        const HistogramOptions& options, Loc loc) const {
  const OpScope at("histogram", loc);
  require_defined("histogram", "x", x, "edges", edges);
  if (edges.rank() != 1 || edges.size() < 2) {
    throw ShapeError("histogram: the edges are f[n] with n of 2 or more, got " +
                     to_string(edges.aval()));
  }
  const Array values = widened(x);
  return counted(values, convert(edges, values.dtype()), options);
}

Array DigitizeFunction::operator()(const Array& x, const Array& edges,
                                   const DigitizeOptions& options, Loc loc) const {
  const OpScope at("digitize", loc);
  return searchsorted(edges, x, {.right = !options.right}, loc);
}

Array InterpFunction::operator()(const Array& x, const Array& xp, const Array& fp,
                                 const InterpOptions& options, Loc loc) const {
  const OpScope at("interp", loc);
  require_defined("interp", "x", x, "xp", xp, "fp", fp);
  if (xp.rank() != 1 || fp.rank() != 1 || xp.size() != fp.size() || xp.size() == 0) {
    throw ShapeError("interp: xp and fp are vectors of one size, 1 or more, got " +
                     to_string(xp.aval()) + " and " + to_string(fp.aval()));
  }
  const Dtype common = promote(promote(x.dtype(), x.weak(), xp.dtype(), xp.weak()),
                               x.weak() && xp.weak(), fp.dtype(), fp.weak());
  const Dtype d = is_floating(common) && !is_half(common) ? common : float32;
  const Array at_x = convert(x, d), points = convert(xp, d), values = convert(fp, d);
  const int64_t n = xp.size();
  const Array first = points[0], last = points[n - 1];
  Array y = broadcast_to(values[0], x.shape());
  if (n > 1) {
    const Array right = clip(searchsorted(points, at_x, {.right = true}), 1, n - 1);
    const Array left = right - 1;
    const Array from = take(points, left), step = take(points, right) - from;
    const Array low = take(values, left), rise = take(values, right) - low;
    const Array same = equal(step, scalar_of(d, 0)), safe = where(same, scalar_of(d, 1), step);
    y = where(same, low, low + (at_x - from) / safe * rise);
  }
  const auto outside = [&](const std::optional<double>& given, const Array& end) {
    return given ? scalar_of(d, *given) : end;
  };
  y = where(less(at_x, first), outside(options.left, values[0]), y);
  y = where(greater(at_x, last), outside(options.right, values[n - 1]), y);
  return is_half(common) ? convert(y, common) : y;
}

namespace {

Array convolved(const char* op, const Array& a, const Array& v, std::string_view mode,
                bool reversed) {
  require_defined(op, "a", a, "v", v);
  if (a.rank() != 1 || v.rank() != 1 || a.size() == 0 || v.size() == 0) {
    throw ShapeError(std::string(op) + ": takes two vectors with elements, got " +
                     to_string(a.aval()) + " and " + to_string(v.aval()));
  }
  const Dtype d = promote(a.dtype(), a.weak(), v.dtype(), v.weak());
  Array x = convert(a, d), w = convert(v, d);
  // Places count from the one where the first elements meet.
  const int64_t m = a.size(), n = v.size(), longer = std::max(m, n), shorter = std::min(m, n);
  int64_t skipped = 0, count = m + n - 1;
  if (mode == "same") {
    count = longer, skipped = (shorter - 1) / 2;
    // NumPy exchanges the operands of a correlation with a longer v, and turns the result around.
    if (!reversed && m < n) skipped = shorter - 1 - skipped;
  } else if (mode == "valid") {
    count = longer - shorter + 1, skipped = shorter - 1;
  } else if (mode != "full") {
    throw ValueError(std::string(op) + ": mode \"" + std::string(mode) +
                     "\" is unknown; give \"full\", \"same\" or \"valid\"");
  }
  const int64_t low = n - 1 - skipped, high = count - m - low + n - 1;
  const Array y =
      conv_general(rules::reshaped(x, {1, 1, m}), rules::reshaped(w, {1, 1, n}),
                   {.padding_low = {low}, .padding_high = {high}, .reversed = reversed});
  return rules::reshaped(y, {count});
}

}  // namespace

Array ConvolveFunction::operator()(const Array& a, const Array& v, const ConvolveOptions& options,
                                   Loc loc) const {
  const OpScope at("convolve", loc);
  return convolved("convolve", a, v, options.mode.empty() ? "full" : options.mode, true);
}

Array CorrelateFunction::operator()(const Array& a, const Array& v, const ConvolveOptions& options,
                                    Loc loc) const {
  const OpScope at("correlate", loc);
  return convolved("correlate", a, v, options.mode.empty() ? "valid" : options.mode, false);
}

Array TrapezoidFunction::operator()(const Array& y, const TrapezoidOptions& options,
                                    Loc loc) const {
  const OpScope at("trapezoid", loc);
  require_defined("trapezoid", "y", y);
  const int axis = normalize_axis("trapezoid", options.axis, y.rank());
  const Array values = moveaxis(widened(y), axis, -1);
  const int last = y.rank() - 1;
  const int64_t n = values.shape().back();
  if (n < 2) return sum(rules::slice_axis(values, last, 0, 0), -1);
  const Array pairs =
      rules::slice_axis(values, last, 1, n) + rules::slice_axis(values, last, 0, n - 1);
  if (!options.x.defined()) return narrowed(sum(pairs, -1) * (options.dx / 2), y.dtype());
  const Array x = widened(options.x);
  const Array steps = diff(x.rank() == 1 ? x : moveaxis(x, axis, -1));
  return narrowed(sum(pairs * steps, -1) * 0.5, y.dtype());
}

Array IsinFunction::operator()(const Array& x, const Array& values, Loc loc) const {
  const OpScope at("isin", loc);
  require_defined("isin", "x", x, "values", values);
  const Dtype d = promote(x.dtype(), x.weak(), values.dtype(), values.weak());
  const Array wanted = convert(x, d), sorted = sort(ravel(convert(values, d)));
  const int64_t n = sorted.size();
  if (n == 0) return not_equal(zeros_like(wanted), zeros_like(wanted));
  const Array place = minimum(searchsorted(sorted, wanted), n - 1);
  return equal(take(sorted, place), wanted);
}

}  // namespace spruce
