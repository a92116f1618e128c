// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/cumulative.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Array cumulative(const char* op, const Primitive& p, const Array& x, const AxisArg& axis,
                 const CumulativeOptions& options) {
  const int along = axis.all() ? 0 : rules::single_axis(op, axis, x.rank());
  const Array from = axis.all() ? ravel(x) : x;
  return bind1(p, {from}, Params::make(CumulativeParams{along, options.reverse}));
}

}  // namespace

Array CumsumFunction::operator()(const Array& x, const AxisArg& axis,
                                 const CumulativeOptions& options, Loc loc) const {
  const OpScope at("cumsum", loc);
  return cumulative("cumsum", cumsum_p, rules::summable(x), axis, options);
}

Array CumprodFunction::operator()(const Array& x, const AxisArg& axis,
                                  const CumulativeOptions& options, Loc loc) const {
  const OpScope at("cumprod", loc);
  return cumulative("cumprod", cumprod_p, rules::summable(x), axis, options);
}

Array CummaxFunction::operator()(const Array& x, const AxisArg& axis,
                                 const CumulativeOptions& options, Loc loc) const {
  const OpScope at("cummax", loc);
  return cumulative("cummax", cummax_p, x, axis, options);
}

Array CumminFunction::operator()(const Array& x, const AxisArg& axis,
                                 const CumulativeOptions& options, Loc loc) const {
  const OpScope at("cummin", loc);
  return cumulative("cummin", cummin_p, x, axis, options);
}

Array CumlogsumexpFunction::operator()(const Array& x, const AxisArg& axis,
                                       const CumulativeOptions& options, Loc loc) const {
  const OpScope at("cumlogsumexp", loc);
  return cumulative("cumlogsumexp", cumlogsumexp_p,
                    is_floating(x.dtype()) ? x : rules::convert(x, float32), axis, options);
}

Array DiffFunction::operator()(const Array& x, const DiffOptions& options, Loc loc) const {
  const OpScope at("diff", loc);
  if (options.n < 0)
    throw ValueError("diff: n is " + std::to_string(options.n) + "; it must not be negative");
  const int axis = normalize_axis("diff", options.axis, x.rank());
  Array y = x;
  for (int64_t k = 0; k < options.n && y.shape()[axis] > 0; ++k) {
    const int64_t n = y.shape()[axis];
    const Array next = rules::slice_axis(y, axis, 1, n),
                last = rules::slice_axis(y, axis, 0, n - 1);
    y = is_bool(x.dtype()) ? not_equal(next, last) : next - last;
  }
  return y;
}

}  // namespace spruce
