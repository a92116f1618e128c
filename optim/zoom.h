// SPDX-License-Identifier: Apache-2.0
// A line search for the strong Wolfe conditions, by enclosing an interval and zooming into it
// (Nocedal and Wright 2006, algorithms 3.5 and 3.6), with the approximate condition of decrease of
// Hager and Zhang (2006) near a minimum. The decisions are those of Optax's zoom_linesearch.
#pragma once

#include <functional>

#include "spruce/core/array.h"

namespace spruce::optim {

/// Options of the line search.
struct ZoomOptions {
  int64_t max_steps = 20;         ///< evaluations of the objective
  double max_step_size = 0;       ///< the longest step; 0: no limit
  double tol = 0;                 ///< by how much the conditions may be missed
  double increase_factor = 2;     ///< of the step while no interval is found
  double slope_rtol = 1e-4;       ///< of sufficient decrease: share of the slope at the start
  double curv_rtol = 0.9;         ///< of the slope at the end: share of that at the start
  double approx_dec_rtol = 1e-6;  ///< how near to the first value the approximate condition counts
  double interval_threshold = 1e-5;  ///< an interval as short as this is not searched further

  /// Throws ValueError, naming `op`, for numbers out of range.
  void check(const char* op) const;
};

namespace internal {

/// {f[], f[n]}: an objective and its gradient at a vector.
using ValueAndGrad = std::function<std::pair<Array, Array>(const Array& x)>;

/// Where a line search ended.
struct ZoomResult {
  Array step_size;  ///< f[]: 0 where no step could be found
  Array value;      ///< f[]: of the objective there
  Array grad;       ///< f[n]
};
/// Searches from x along `direction`, f[n] both, where the objective has that value and gradient.
ZoomResult zoom(const ValueAndGrad& f, const Array& x, const Array& direction, const Array& value,
                const Array& grad, const ZoomOptions& options);

}  // namespace internal
}  // namespace spruce::optim
