// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/integer_range.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/deviations.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduction_parts.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

using internal::narrowed;
using internal::widened;
using rules::convert;
using rules::scalar_of;

Axes rising(const char* op, const Array& x, const AxisArg& axes) {
  Axes out = axes.resolve(op, x.rank());
  std::sort(out.begin(), out.end());
  return out;
}

Array keep(const Array& y, const Shape& shape, const Axes& axes) {
  Shape kept = shape;
  for (const int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  return reshape(y, kept);
}

// Binds the reduction, under the name of the public function.
Array reduce(const char* op, const Primitive& p, const Array& x, const AxisArg& axes,
             const ReduceOptions& options) {
  const Axes over = rising(op, x, axes);
  const Array y = bind1(p, {x}, Params::make(ReduceParams{over}));
  return options.keepdims ? keep(y, x.shape(), over) : y;
}

int64_t count(const Shape& shape, const Axes& axes) {
  int64_t n = 1;
  for (const int64_t axis : axes) n *= shape[static_cast<int>(axis)];
  return n;
}

void require_elements(const char* op, const Array& x, const Axes& axes) {
  if (count(x.shape(), axes) > 0) return;
  throw ShapeError(
      std::string(op) + ": " + to_string(x.aval()) + " has no elements along axes " +
      to_string(axes) +
      ", and none of nothing is the largest or smallest; reduce an array with elements there");
}

Array extremum(const char* op, const Primitive& p, const Array& x, const AxisArg& axes,
               const ReduceOptions& options) {
  require_elements(op, x, rising(op, x, axes));
  return reduce(op, p, x, axes, options);
}

Array truth(const Array& x) { return convert(x, bool_); }

}  // namespace

Array SumFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("sum", loc);
  return reduce("sum", reduce_sum_p, rules::summable(x), axes, options);
}

Array ProdFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                               Loc loc) const {
  const OpScope at("prod", loc);
  return reduce("prod", reduce_prod_p, rules::summable(x), axes, options);
}

Array MeanFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                               Loc loc) const {
  const OpScope at("mean", loc);
  const Axes over = rising("mean", x, axes);
  const Array wide = widened(x);
  const Array n = scalar_of(wide.dtype(), static_cast<double>(count(x.shape(), over)));
  return narrowed(sum(wide, over, options) / n, x.dtype());
}

Array AverageFunction::operator()(const Array& x, const Array& weights, const AxisArg& axes,
                                  const ReduceOptions& options, Loc loc) const {
  const OpScope at("average", loc);
  internal::require_defined("average", "x", x, "weights", weights);
  const Array wide = widened(x), w = broadcast_to(convert(weights, wide.dtype()), x.shape());
  return narrowed(sum(wide * w, axes, options) / sum(w, axes, options), x.dtype());
}

Array MedianFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                                 Loc loc) const {
  const OpScope at("median", loc);
  const Axes over = rising("median", x, axes);
  require_elements("median", x, over);
  const Array sorted = sort(internal::as_rows(widened(x), over), -1);
  const int last = sorted.rank() - 1;
  const int64_t n = sorted.shape().back();
  const Array middle = rules::slice_axis(sorted, last, (n - 1) / 2, n / 2 + 1);
  const Array top = squeeze(rules::slice_axis(sorted, last, n - 1, n), last);  // NaN is sorted last
  const Array y = narrowed(where(isnan(top), top, mean(middle, last)), x.dtype());
  return options.keepdims ? keep(y, x.shape(), over) : y;
}

Array VarFunction::operator()(const Array& x, const AxisArg& axes, const VarOptions& options,
                              Loc loc) const {
  const OpScope at("var", loc);
  const Axes over = rising("var", x, axes);
  const Array wide = widened(x);
  const int64_t n = count(x.shape(), over) - options.ddof;
  const Array y = internal::deviations(wide, over).of_squares /
                  scalar_of(wide.dtype(), static_cast<double>(std::max<int64_t>(n, 0)));
  return narrowed(options.keepdims ? keep(y, x.shape(), over) : y, x.dtype());
}

Array StdFunction::operator()(const Array& x, const AxisArg& axes, const VarOptions& options,
                              Loc loc) const {
  const OpScope at("std", loc);
  return narrowed(sqrt(var(widened(x), axes, options)), x.dtype());
}

Array MaxFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("max", loc);
  return extremum("max", reduce_max_p, x, axes, options);
}

Array MinFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("min", loc);
  return extremum("min", reduce_min_p, x, axes, options);
}

Array PtpFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("ptp", loc);
  internal::require_defined("ptp", "x", x);
  if (is_bool(x.dtype()))
    throw DtypeError("ptp: takes numbers, not bool, got " + to_string(x.aval()));
  return extremum("ptp", reduce_max_p, x, axes, options) -
         extremum("ptp", reduce_min_p, x, axes, options);
}

Array AnyFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("any", loc);
  return reduce("any", reduce_or_p, truth(x), axes, options);
}

Array AllFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                              Loc loc) const {
  const OpScope at("all", loc);
  return reduce("all", reduce_and_p, truth(x), axes, options);
}

Array CountNonzeroFunction::operator()(const Array& x, const AxisArg& axes,
                                       const ReduceOptions& options, Loc loc) const {
  const OpScope at("count_nonzero", loc);
  return reduce("count_nonzero", reduce_sum_p, convert(truth(x), rules::count_dtype(x.size())),
                axes, options);
}

namespace {

Array arg_reduce(const char* op, const Primitive& p, const Array& x, const AxisArg& axis,
                 const ArgOptions& options) {
  const Axes over =
      axis.all() ? axis.resolve(op, x.rank()) : Axes{rules::single_axis(op, axis, x.rank())};
  require_elements(op, x, over);
  const Array from = axis.all() ? ravel(x) : x;
  const int64_t along = axis.all() ? 0 : over[0], last = from.shape()[static_cast<int>(along)] - 1;
  const Dtype dtype = options.dtype.value_or(rules::count_dtype(last));
  if (is_integer(dtype) && static_cast<uint64_t>(last) > largest_integer(dtype)) {
    throw DtypeError(std::string(op) + ": positions along an axis of " + std::to_string(last + 1) +
                     " elements do not fit " + std::string(spruce::name(dtype)) +
                     "; leave .dtype out, or give int64");
  }
  const Array y = bind1(p, {from}, Params::make(ArgReduceParams{along, dtype}));
  return options.keepdims ? keep(y, x.shape(), over) : y;
}

}  // namespace

Array ArgmaxFunction::operator()(const Array& x, const AxisArg& axis, const ArgOptions& options,
                                 Loc loc) const {
  const OpScope at("argmax", loc);
  return arg_reduce("argmax", argmax_p, x, axis, options);
}

Array ArgminFunction::operator()(const Array& x, const AxisArg& axis, const ArgOptions& options,
                                 Loc loc) const {
  const OpScope at("argmin", loc);
  return arg_reduce("argmin", argmin_p, x, axis, options);
}

Array LogsumexpFunction::operator()(const Array& x, const AxisArg& axes,
                                    const ReduceOptions& options, Loc loc) const {
  const OpScope at("logsumexp", loc);
  const Axes over = rising("logsumexp", x, axes);
  const Array wide = widened(x);
  const Array zero = scalar_of(wide.dtype(), 0), one = scalar_of(wide.dtype(), 1),
              lowest = scalar_of(wide.dtype(), -std::numeric_limits<double>::infinity());
  if (count(x.shape(), over) == 0) return narrowed(sum(wide, over, options) + lowest, x.dtype());
  // The shift has no derivative of its own: what it takes away it adds again.
  const Array top = bind1(stop_gradient_p, {max(wide, over, {.keepdims = true})});
  const Array shift = where(isfinite(top), top, zero);
  const Array total = sum(exp(wide - shift), over, {.keepdims = true});
  const Array empty = equal(total, zero);
  const Array y = where(empty, lowest, log(where(empty, one, total)) + shift);
  return narrowed(options.keepdims ? y : squeeze(y, over), x.dtype());
}

Array NansumFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                                 Loc loc) const {
  const OpScope at("nansum", loc);
  return is_floating(x.dtype()) ? sum(where(isnan(x), scalar_of(x.dtype(), 0), x), axes, options)
                                : sum(x, axes, options);
}

Array NanmeanFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                                  Loc loc) const {
  const OpScope at("nanmean", loc);
  if (!is_floating(x.dtype())) return mean(x, axes, options);
  const Array wide = widened(x);
  const Array there = convert(logical_not(isnan(wide)), wide.dtype());
  return narrowed(nansum(wide, axes, options) / sum(there, axes, options), x.dtype());
}

namespace {

Array nan_extremum(const char* op, const Primitive& p, const Array& x, double identity,
                   const AxisArg& axes, const ReduceOptions& options) {
  if (!is_floating(x.dtype())) return extremum(op, p, x, axes, options);
  const Array missing = isnan(x);
  const Array y = extremum(op, p, where(missing, scalar_of(x.dtype(), identity), x), axes, options);
  return where(all(missing, axes, options),
               scalar_of(x.dtype(), std::numeric_limits<double>::quiet_NaN()), y);
}

}  // namespace

Array NanmaxFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                                 Loc loc) const {
  const OpScope at("nanmax", loc);
  return nan_extremum("nanmax", reduce_max_p, x, -std::numeric_limits<double>::infinity(), axes,
                      options);
}

Array NanminFunction::operator()(const Array& x, const AxisArg& axes, const ReduceOptions& options,
                                 Loc loc) const {
  const OpScope at("nanmin", loc);
  return nan_extremum("nanmin", reduce_min_p, x, std::numeric_limits<double>::infinity(), axes,
                      options);
}

}  // namespace spruce
