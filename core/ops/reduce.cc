// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

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

// What integers add up in.
Array summable(const Array& x) {
  if (is_floating(x.dtype()) || size_of(x.dtype()) >= 4) return x;
  return convert(x, is_unsigned_integer(x.dtype()) ? uint32 : int32);
}

// f32 for integers and bool.
Array as_floating(const Array& x) { return is_floating(x.dtype()) ? x : convert(x, float32); }

// f32 for integers, bool and the 16-bit floats, whose results are rounded once at the end.
Array widened(const Array& x) { return is_half(x.dtype()) ? convert(x, float32) : as_floating(x); }
Array narrowed(const Array& y, Dtype from) { return is_half(from) ? convert(y, from) : y; }

Array extremum(const char* op, const Primitive& p, const Array& x, const AxisArg& axes,
               const ReduceOptions& options) {
  require_elements(op, x, rising(op, x, axes));
  return reduce(op, p, x, axes, options);
}

Array truth(const Array& x) { return convert(x, bool_); }

}  // namespace

Array sum(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("sum", loc);
  return reduce("sum", reduce_sum_p, summable(x), axes, options);
}

Array prod(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("prod", loc);
  return reduce("prod", reduce_prod_p, summable(x), axes, options);
}

Array mean(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("mean", loc);
  const Axes over = rising("mean", x, axes);
  const Array wide = widened(x);
  const Array n = scalar_of(wide.dtype(), static_cast<double>(count(x.shape(), over)));
  return narrowed(sum(wide, over, options) / n, x.dtype());
}

Array average(const Array& x, const Array& weights, const AxisArg& axes,
              const ReduceOptions& options, Loc loc) {
  const OpScope at("average", loc);
  const Array wide = widened(x), w = broadcast_to(convert(weights, wide.dtype()), x.shape());
  return narrowed(sum(wide * w, axes, options) / sum(w, axes, options), x.dtype());
}

Array median(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("median", loc);
  const Axes over = rising("median", x, axes);
  require_elements("median", x, over);
  Axes perm = rules::other_axes(x.rank(), over);
  Shape rows = rules::without_axes(x.shape(), over);
  const int last = rows.rank();
  for (const int64_t axis : over) perm.push_back(axis);
  rows.push_back(count(x.shape(), over));
  const Array sorted = sort(reshape(transpose(widened(x), perm), rows), last);
  const int64_t n = rows.back();
  const Array middle = rules::slice_axis(sorted, last, (n - 1) / 2, n / 2 + 1);
  const Array top = squeeze(rules::slice_axis(sorted, last, n - 1, n), last);  // NaN is sorted last
  const Array y = narrowed(where(isnan(top), top, mean(middle, last)), x.dtype());
  return options.keepdims ? keep(y, x.shape(), over) : y;
}

Array var(const Array& x, const AxisArg& axes, const VarOptions& options, Loc loc) {
  const OpScope at("var", loc);
  const Axes over = rising("var", x, axes);
  const Array wide = widened(x);
  const Array distance = wide - mean(wide, over, {.keepdims = true});
  const int64_t n = count(x.shape(), over) - options.ddof;
  const Array total = sum(distance * distance, over, {.keepdims = options.keepdims});
  return narrowed(total / scalar_of(wide.dtype(), static_cast<double>(std::max<int64_t>(n, 0))),
                  x.dtype());
}

Array std(const Array& x, const AxisArg& axes, const VarOptions& options, Loc loc) {
  const OpScope at("std", loc);
  return narrowed(sqrt(var(widened(x), axes, options)), x.dtype());
}

Array max(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("max", loc);
  return extremum("max", reduce_max_p, x, axes, options);
}

Array min(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("min", loc);
  return extremum("min", reduce_min_p, x, axes, options);
}

Array ptp(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("ptp", loc);
  return extremum("ptp", reduce_max_p, x, axes, options) -
         extremum("ptp", reduce_min_p, x, axes, options);
}

Array any(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("any", loc);
  return reduce("any", reduce_or_p, truth(x), axes, options);
}

Array all(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("all", loc);
  return reduce("all", reduce_and_p, truth(x), axes, options);
}

Array count_nonzero(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("count_nonzero", loc);
  return reduce("count_nonzero", reduce_sum_p, convert(truth(x), int32), axes, options);
}

namespace {

Array arg_reduce(const char* op, const Primitive& p, const Array& x, const AxisArg& axis,
                 const ArgOptions& options) {
  const Axes over =
      axis.all() ? axis.resolve(op, x.rank()) : Axes{rules::single_axis(op, axis, x.rank())};
  require_elements(op, x, over);
  const Array from = axis.all() ? ravel(x) : x;
  const Array y =
      bind1(p, {from}, Params::make(ArgReduceParams{axis.all() ? 0 : over[0], options.dtype}));
  return options.keepdims ? keep(y, x.shape(), over) : y;
}

}  // namespace

Array argmax(const Array& x, const AxisArg& axis, const ArgOptions& options, Loc loc) {
  const OpScope at("argmax", loc);
  return arg_reduce("argmax", argmax_p, x, axis, options);
}

Array argmin(const Array& x, const AxisArg& axis, const ArgOptions& options, Loc loc) {
  const OpScope at("argmin", loc);
  return arg_reduce("argmin", argmin_p, x, axis, options);
}

Array logsumexp(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
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

namespace {

// sqrt and other roots, with derivative 0 at 0.
template <class Root>
Array rooted(const Array& s, const Root& root) {
  const Array zero = scalar_of(s.dtype(), 0), at_zero = equal(s, zero);
  return where(at_zero, zero, root(where(at_zero, scalar_of(s.dtype(), 1), s)));
}

}  // namespace

Array norm(const Array& x, const AxisArg& axes, const NormOptions& options, Loc loc) {
  const OpScope at("norm", loc);
  const Array wide = widened(x);
  const ReduceOptions kept{.keepdims = options.keepdims};
  const double ord = options.ord;
  Array y;
  if (ord == 2) {
    y = rooted(sum(wide * wide, axes, kept), sqrt);
  } else if (ord == 1) {
    y = sum(abs(wide), axes, kept);
  } else if (ord == 0) {
    y = convert(count_nonzero(wide, axes, kept), wide.dtype());
  } else if (std::isinf(ord)) {
    const bool empty = ord > 0 && count(x.shape(), rising("norm", x, axes)) == 0;
    y = empty     ? sum(wide, axes, kept)
        : ord > 0 ? max(abs(wide), axes, kept)
                  : min(abs(wide), axes, kept);
  } else {
    const Array p = scalar_of(wide.dtype(), ord), inverse = scalar_of(wide.dtype(), 1 / ord);
    const Array powers = ord > 1 ? power(abs(wide), p)
                                 : rooted(abs(wide), [&](const Array& a) { return power(a, p); });
    y = rooted(sum(powers, axes, kept), [&](const Array& a) { return power(a, inverse); });
  }
  return narrowed(y, x.dtype());
}

Array nansum(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("nansum", loc);
  return is_floating(x.dtype()) ? sum(where(isnan(x), scalar_of(x.dtype(), 0), x), axes, options)
                                : sum(x, axes, options);
}

Array nanmean(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
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

Array nanmax(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("nanmax", loc);
  return nan_extremum("nanmax", reduce_max_p, x, -std::numeric_limits<double>::infinity(), axes,
                      options);
}

Array nanmin(const Array& x, const AxisArg& axes, const ReduceOptions& options, Loc loc) {
  const OpScope at("nanmin", loc);
  return nan_extremum("nanmin", reduce_min_p, x, std::numeric_limits<double>::infinity(), axes,
                      options);
}

}  // namespace spruce
