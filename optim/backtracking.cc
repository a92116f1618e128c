// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/backtracking.h"

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/control/loops/while_loop.h"

namespace spruce::optim {

using spruce::internal::Range;

void BacktrackingOptions::check(const char* op) const {
  internal::check_steps(op, "max_backtracking_steps", max_backtracking_steps);
  const auto in = [&](const char* name, double x, Range range) {
    spruce::internal::check_range(op, name, x, range);
  };
  in("slope_rtol", slope_rtol, Range::kShare);
  in("decrease_factor", decrease_factor, Range::kShare);
  in("increase_factor", increase_factor, Range::kPositive);
  in("max_learning_rate", max_learning_rate, Range::kPositive);
  in("atol", atol, Range::kNotNegative);
  in("rtol", rtol, Range::kNotNegative);
}

namespace internal {

BacktrackingState backtracking_start(Dtype dtype) {
  const Array infinite = full({}, std::numeric_limits<double>::infinity(), dtype);
  return {ones({}, dtype), infinite, zero_count(), infinite};
}

BacktrackingState backtrack(const AlongDirection& objective, const Array& value, const Array& slope,
                            const BacktrackingState& s, const BacktrackingOptions& o) {
  const Dtype dtype = s.value.dtype();
  const Array at = astype(value, dtype), down = astype(slope, dtype);
  const auto searches = [&](const BacktrackingState& now) {
    return logical_not(now.decrease_error <= o.atol) &
           (now.num_linesearch_steps <= static_cast<int32_t>(o.max_backtracking_steps));
  };
  const auto turn = [&](const BacktrackingState& now) {
    const Array step = where(now.num_linesearch_steps > 0, o.decrease_factor * now.learning_rate,
                             now.learning_rate);
    const Array found = astype(objective(step), dtype);
    const Array error = found - (1 + o.rtol) * at - o.slope_rtol * step * down;
    const double infinity = std::numeric_limits<double>::infinity();
    return BacktrackingState{step, found, now.num_linesearch_steps + 1,
                             maximum(where(isnan(error), infinity, error), 0)};
  };
  const Array infinite = full({}, std::numeric_limits<double>::infinity(), dtype);
  const Array first = minimum(o.increase_factor * s.learning_rate, o.max_learning_rate);
  BacktrackingState end =
      while_loop(searches, turn, BacktrackingState{first, at, zero_count(), infinite});
  end.learning_rate =
      where(isinf(end.decrease_error), zeros_like(end.learning_rate), end.learning_rate);
  return end;
}

}  // namespace internal
ScaleByBacktracking scale_by_backtracking_linesearch(BacktrackingOptions options, Loc loc) {
  return ScaleByBacktracking(options, loc);
}

}  // namespace spruce::optim
