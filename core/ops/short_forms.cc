// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/short_forms.h"

#include <algorithm>
#include <string>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

using internal::require_defined;

std::vector<Array> UnstackFunction::operator()(const Array& x, Axis axis, Loc loc) const {
  const OpScope at("unstack", loc);
  require_defined("unstack", "x", x);
  const int along = normalize_axis("unstack", axis, x.rank());
  std::vector<Array> out;
  for (int64_t i = 0; i < x.shape()[along]; ++i)
    out.push_back(squeeze(rules::slice_axis(x, along, i, i + 1), along));
  return out;
}

Array Atleast1dFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("atleast_1d", loc);
  return x.rank() >= 1 ? x : rules::reshaped(x, {1});
}
Array Atleast2dFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("atleast_2d", loc);
  return x.rank() >= 2 ? x : rules::reshaped(x, {1, x.size()});
}
Array Atleast3dFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("atleast_3d", loc);
  return x.rank() >= 3 ? x : expand_dims(atleast_2d(x, loc), -1);
}

Array FliplrFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("fliplr", loc);
  return flip(x, 1);
}
Array FlipudFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("flipud", loc);
  return flip(x, 0);
}

Array ColumnStackFunction::operator()(const std::vector<Array>& arrays, Loc loc) const {
  const OpScope at("column_stack", loc);
  internal::require_all_defined("column_stack", arrays);
  std::vector<Array> columns = arrays;
  for (Array& x : columns) {
    if (x.rank() < 2) x = rules::reshaped(x, {x.size(), 1});
  }
  return concatenate(columns, 1);
}
Array DstackFunction::operator()(const std::vector<Array>& arrays, Loc loc) const {
  const OpScope at("dstack", loc);
  internal::require_all_defined("dstack", arrays);
  std::vector<Array> deep = arrays;
  for (Array& x : deep) x = atleast_3d(x, loc);
  return concatenate(deep, 2);
}
std::vector<Array> VsplitFunction::operator()(const Array& x, int64_t parts, Loc loc) const {
  const OpScope at("vsplit", loc);
  return split(x, parts, 0);
}
std::vector<Array> HsplitFunction::operator()(const Array& x, int64_t parts, Loc loc) const {
  const OpScope at("hsplit", loc);
  return split(x, parts, x.rank() == 1 ? 0 : 1);
}

namespace {

// All places (i, j) with low <= j - i <= high, row by row.
std::pair<Array, Array> places_between(const char* op, int64_t n, int64_t columns, int64_t low,
                                       int64_t high) {
  if (columns == -1) columns = n;
  if (n < 0 || columns < 0) {
    throw ValueError(std::string(op) + ": a matrix of " + std::to_string(n) + " x " +
                     std::to_string(columns) + " elements");
  }
  low = std::clamp(low, -n, columns), high = std::clamp(high, -n, columns);
  std::vector<int32_t> rows, places;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t end = std::min(columns, i + high + 1);
    for (int64_t j = std::max<int64_t>(0, i + low); j < end; ++j) {
      rows.push_back(static_cast<int32_t>(i));
      places.push_back(static_cast<int32_t>(j));
    }
  }
  return {array(rows), array(places)};
}

}  // namespace

std::pair<Array, Array> TrilIndicesFunction::operator()(int64_t n, int64_t offset, int64_t columns,
                                                        Loc loc) const {
  const OpScope at("tril_indices", loc);
  return places_between("tril_indices", n, columns, INT64_MIN, offset);
}
std::pair<Array, Array> TriuIndicesFunction::operator()(int64_t n, int64_t offset, int64_t columns,
                                                        Loc loc) const {
  const OpScope at("triu_indices", loc);
  return places_between("triu_indices", n, columns, offset, INT64_MAX);
}

namespace {

// x f(y), and 0 where x is 0 and f(y) is not finite.
template <class F>
Array product_with_log(const char* op, const Operand& x, const Operand& y, const F& f) {
  require_defined(op, "x", x.array, "y", y.array);
  const Array zero = equal(x.array, 0);
  const Array undefined = logical_and(zero, logical_not(isfinite(f(y.array))));
  return x.array * f(where(undefined, 1, y.array));
}

}  // namespace

Array XlogyFunction::operator()(Operand x, Operand y, Loc loc) const {
  const OpScope at("xlogy", loc);
  return product_with_log("xlogy", x, y, log);
}
Array Xlog1pyFunction::operator()(Operand x, Operand y, Loc loc) const {
  const OpScope at("xlog1py", loc);
  return product_with_log("xlog1py", x, y, log1p);
}
Array LogitFunction::operator()(const Array& p, Loc loc) const {
  const OpScope at("logit", loc);
  require_defined("logit", "p", p);
  return log(p) - log1p(-p);
}

}  // namespace spruce
