// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/zoom.h"

#include <limits>

#include "spruce/core/ops/ops.h"
#include "spruce/core/ranges.h"
#include "spruce/optim/map_trainable.h"
#include "spruce/transforms/control/loops/while_loop.h"

namespace spruce::optim {

using spruce::internal::Range;

void ZoomOptions::check(const char* op) const {
  using spruce::internal::check_range;
  check_range(op, "max_step_size", max_step_size, Range::kNotNegative);
  check_range(op, "tol", tol, Range::kNotNegative);
  check_range(op, "increase_factor", increase_factor, Range::kPositive);
  check_range(op, "slope_rtol", slope_rtol, Range::kShare);
  check_range(op, "curv_rtol", curv_rtol, Range::kShare);
  check_range(op, "approx_dec_rtol", approx_dec_rtol, Range::kNotNegative);
  check_range(op, "interval_threshold", interval_threshold, Range::kNotNegative);
  internal::check_steps(op, "max_steps of the line search", max_steps);
}

namespace internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A step, and the objective and its slope there.
struct Point {
  Array at, value, slope;
};
Point choose(const Array& first, const Point& a, const Point& b) {
  return {where(first, a.at, b.at), where(first, a.value, b.value), where(first, a.slope, b.slope)};
}

struct Safe {  // a step that decreases enough, though the slope may not be small
  Array at, value, grad;
};

struct State {
  Array count;  // i32[]
  Point last;   // where the objective was evaluated last
  Array grad;   // there
  Array found, done, failed;
  Point low, high;
  Array third, third_value;  // of the cubic
  Safe safe;
  Array decrease_error;
};

// A divisor, with 1 in the place of 0, so that what is not used makes no NaN.
Array divisor(const Array& x) { return where(x == 0.0, ones_like(x), x); }

// Where the cubic through three points with the slope at the first has its minimum; infinity for
// none.
Array cubic_minimum(const Point& a, const Point& b, const Array& c, const Array& c_value) {
  const Array db = b.at - a.at, dc = c - a.at;
  const Array over = square(db * dc) * (db - dc);
  const Array rb = b.value - a.value - a.slope * db, rc = c_value - a.value - a.slope * dc;
  const Array cube = (square(dc) * rb - square(db) * rc) / divisor(over);
  const Array squared = (db * db * db * rc - dc * dc * dc * rb) / divisor(over);
  const Array root = squared * squared - 3.0 * cube * a.slope;
  const Array none = (over == 0.0) | (cube == 0.0) | (root < 0.0);
  const Array found =
      a.at + (sqrt(where(none, zeros_like(root), root)) - squared) / (3.0 * divisor(cube));
  return where(none, full_like(found, kInfinity), found);
}
Array quadratic_minimum(const Point& a, const Point& b) {
  const Array db = b.at - a.at;
  const Array curve = (b.value - a.value - a.slope * db) / divisor(square(db));
  const Array found = a.at - a.slope / (2.0 * divisor(curve));
  return where((db == 0.0) | (curve == 0.0), full_like(found, kInfinity), found);
}

// The minimum of the cubic where it lies well within the interval, else that of the parabola, else
// the middle.
Array interpolated(const State& s) {
  const Array width = abs(s.high.at - s.low.at), left = minimum(s.high.at, s.low.at),
              right = maximum(s.high.at, s.low.at);
  const auto within = [&](const Array& x, double margin) {
    return (x > left + margin * width) & (x < right - margin * width);
  };
  const Array cubic = cubic_minimum(s.low, s.high, s.third, s.third_value),
              parabola = quadratic_minimum(s.low, s.high);
  return where(within(cubic, 0.2), cubic,
               where(within(parabola, 0.1), parabola, (s.low.at + s.high.at) / 2.0));
}

// What a condition is missed by: 0 where it holds, infinity for NaN.
Array missed(const Array& error) {
  return where(isnan(error), full_like(error, kInfinity), maximum(error, 0.0));
}

class Search {
 public:
  Search(const ValueAndGrad& f, const Array& x, const Array& direction, const Array& value,
         const Array& slope, const ZoomOptions& options)
      : f_(f), x_(x), direction_(direction), value_(value), slope_(slope), o_(options) {}

  // One evaluation, while an interval is looked for or within it.
  State step(const State& s) const {
    Array expanded = where(s.count == 0, ones_like(s.last.at), o_.increase_factor * s.last.at);
    Array at_end = zeros({}, bool_);
    if (o_.max_step_size > 0) {
      at_end = expanded >= o_.max_step_size;
      expanded = minimum(expanded, o_.max_step_size);
    }
    State next = s;
    next.count = s.count + 1;
    const Array trial = where(s.found, interpolated(s), expanded);
    const auto [value, grad] = f_(x_ + trial * direction_);
    const Point here{trial, value, sum(grad * direction_)};
    next.last = here;
    next.grad = grad;
    next.decrease_error = decrease_error(here);
    const Array curvature_error = missed(abs(here.slope) - o_.curv_rtol * abs(slope_));
    const Array good = maximum(next.decrease_error, curvature_error) <= o_.tol;
    const Array is_safe =
        (next.decrease_error <= o_.tol) & (logical_not(s.found) | (value < s.safe.value));
    next.safe = {where(is_safe, trial, s.safe.at), where(is_safe, value, s.safe.value),
                 where(is_safe, grad, s.safe.grad)};

    const Array too_high = next.decrease_error > 0.0;
    const Array last_one = next.count >= static_cast<int32_t>(o_.max_steps);
    // Looking for an interval: the new point is its upper end, or its lower one if the objective
    // rises there.
    const Array ends = too_high | ((value >= s.last.value) & (s.count > 0));
    const Array rises = (here.slope >= 0.0) & logical_not(ends);
    const Array found = ends | rises | good;
    const Point low = choose(rises, here, s.last), high = choose(rises, s.last, here);
    const Array done = good | (at_end & logical_not(found));
    // Within it: the new point replaces one end, so that the lower one stays the better.
    const Array replace_high = too_high | (value >= s.low.value);
    const Array turn = (here.slope * (s.high.at - s.low.at) >= 0.0) & logical_not(replace_high);
    const Point inner_high = choose(turn, s.low, choose(replace_high, here, s.high));
    const Point inner_low = choose(replace_high, s.low, here);
    const Point left_out = choose(replace_high | turn, s.high, s.low);
    const Array narrow =
        (abs(s.high.at - s.low.at) <= o_.interval_threshold) & (next.safe.at > 0.0);

    next.low = choose(s.found, inner_low, low);
    next.high = choose(s.found, inner_high, high);
    next.third = where(s.found, left_out.at, low.at);
    next.third_value = where(s.found, left_out.value, low.value);
    next.done = where(s.found, good, done);
    next.failed = (last_one | (s.found & narrow)) & logical_not(next.done);
    next.found = s.found | found;
    return next;
  }

 private:
  Array decrease_error(const Point& p) const {
    const Array sufficient = p.value - value_ - o_.slope_rtol * p.at * slope_;
    const Array near = p.value - value_ - o_.approx_dec_rtol * abs(value_);
    const Array approximate = maximum(p.slope - (2 * o_.slope_rtol - 1) * slope_, near);
    return missed(minimum(approximate, sufficient));
  }

  const ValueAndGrad& f_;
  const Array &x_, &direction_, &value_, &slope_;
  const ZoomOptions& o_;
};

}  // namespace

ZoomResult zoom(const ValueAndGrad& f, const Array& x, const Array& direction, const Array& value,
                const Array& grad, const ZoomOptions& options) {
  const Array zero = zeros({}, x.dtype()), no = zeros({}, bool_);
  const Array slope = sum(grad * direction);
  const Point start{zero, value, slope};
  const State first{zeros({}, int32),
                    start,
                    grad,
                    no,
                    no,
                    no,
                    start,
                    start,
                    zero,
                    value,
                    {zero, value, grad},
                    full_like(zero, kInfinity)};
  const Search search(f, x, direction, value, slope, options);
  const State last = while_loop([](const State& s) { return logical_not(s.done | s.failed); },
                                [&](const State& s) { return search.step(s); }, first);
  // Where the conditions cannot be met: a step that decreases enough; none where the objective is
  // not even finite; else the last one.
  const Array fall_back = last.failed & ((last.safe.at > 0.0) | isinf(last.decrease_error));
  return {where(fall_back, last.safe.at, last.last.at),
          where(fall_back, last.safe.value, last.last.value),
          where(fall_back, last.safe.grad, last.grad)};
}

}  // namespace internal
}  // namespace spruce::optim
