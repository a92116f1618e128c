// SPDX-License-Identifier: Apache-2.0
// Schedules that rise as well as fall.
#include <algorithm>
#include <functional>
#include <limits>

#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/take.h"
#include "spruce/optim/schedule_parts.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce::optim {
namespace {

using internal::as_count, internal::check_rate, internal::check_schedule_steps,
    internal::half_cosine, internal::progress;
using spruce::internal::check_range, spruce::internal::Range;

void check_onecycle(const char* op, float peak, double pct_start, float div_factor,
                    float final_div_factor) {
  check_rate(op, "peak", peak);
  check_range(op, "pct_start", pct_start, Range::kShare);
  check_range(op, "div_factor", div_factor, Range::kPositive);
  check_range(op, "final_div_factor", final_div_factor, Range::kPositive);
}

void check_phases(const char* op, int64_t steps, const std::vector<int64_t>& ends) {
  if (std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end()) return;
  std::string text;
  for (const int64_t end : ends) text += (text.empty() ? "" : ", ") + std::to_string(end);
  throw ValueError(std::string(op) + ": of " + std::to_string(steps) +
                   " steps the phases end at updates " + text +
                   ", which do not rise; give more steps, or other shares");
}

}  // namespace

Schedule linear_onecycle_schedule(int64_t steps, float peak, const OnecycleOptions& o, Loc loc) {
  const char* name = "linear_onecycle_schedule";
  const OpScope at(name, loc);
  check_schedule_steps(name, steps);
  check_onecycle(name, peak, o.pct_start, o.div_factor, o.final_div_factor);
  check_range(name, "pct_final", o.pct_final, Range::kShare);
  const auto all = static_cast<double>(steps);
  const auto rising = static_cast<int64_t>(o.pct_start * all),
             falling = static_cast<int64_t>(o.pct_final * all);
  check_phases(name, steps, {rising, falling, steps});
  return piecewise_interpolate_schedule(Interpolation::kLinear, peak / o.div_factor,
                                        {rising, falling, steps},
                                        {o.div_factor, 1 / o.div_factor, 1 / o.final_div_factor});
}

Schedule cosine_onecycle_schedule(int64_t steps, float peak, const OnecycleOptions& o, Loc loc) {
  const char* name = "cosine_onecycle_schedule";
  const OpScope at(name, loc);
  check_schedule_steps(name, steps);
  check_onecycle(name, peak, o.pct_start, o.div_factor, o.final_div_factor);
  const auto rising = static_cast<int64_t>(o.pct_start * static_cast<double>(steps));
  check_phases(name, steps, {rising, steps});
  return piecewise_interpolate_schedule(Interpolation::kCosine, peak / o.div_factor,
                                        {rising, steps},
                                        {o.div_factor, 1 / (o.div_factor * o.final_div_factor)});
}

Schedule sgdr_schedule(std::vector<SgdrCycle> cycles, Loc loc) {
  const OpScope at("sgdr_schedule", loc);
  if (cycles.empty()) throw ValueError("sgdr_schedule: no cycles; give at least one");
  std::vector<Schedule> schedules;
  std::vector<int64_t> ends;
  for (const SgdrCycle& c : cycles) {
    schedules.push_back(warmup_cosine_decay_schedule(c.init, c.peak, c.warmup_steps, c.total_steps,
                                                     c.end, c.exponent));
    ends.push_back((ends.empty() ? 0 : ends.back()) + c.total_steps);
  }
  ends.pop_back();
  return join_schedules(std::move(schedules), std::move(ends));
}

Schedule multi_step_schedule(float init, std::vector<int64_t> milestones, float gamma, Loc loc) {
  const OpScope at("multi_step_schedule", loc);
  check_rate("multi_step_schedule", "gamma", gamma);
  std::vector<float> scales(milestones.size(), gamma);
  return piecewise_constant_schedule(init, std::move(milestones), std::move(scales));
}

Schedule cosine_annealing_schedule(float init, int64_t steps, float end, Loc loc) {
  const char* name = "cosine_annealing_schedule";
  const LocScope at(loc);
  check_rate(name, "init", init);
  check_rate(name, "end", end);
  check_schedule_steps(name, steps);
  return Schedule([=](const Array& count) {
    // Within a period of twice the steps, so that f32 holds it at any count.
    const Array turned = remainder(floor_divide(count, as_count(steps)), 2) == 1;
    const Array way = progress(remainder(count, as_count(steps)), steps);
    return end + (init - end) * half_cosine(where(turned, 1.0f - way, way));
  });
}

Schedule cosine_annealing_warm_restarts_schedule(float init, int64_t steps, int64_t factor,
                                                 float end, Loc loc) {
  const char* name = "cosine_annealing_warm_restarts_schedule";
  const LocScope at(loc);
  check_rate(name, "init", init);
  check_rate(name, "end", end);
  check_schedule_steps(name, steps);
  internal::check_steps(name, "factor", factor);
  return Schedule([=](const Array& count) {
    constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
    Array way = progress(factor == 1 ? remainder(count, as_count(steps)) : count, steps);
    int64_t begin = steps, length = steps;
    while (factor > 1 && begin <= kLargest / 2 && length <= kLargest / factor) {
      length *= factor;
      way = where(count >= as_count(begin), progress(count - as_count(begin), length), way);
      begin += length;
    }
    return end + (init - end) * half_cosine(way);
  });
}

Schedule cyclic_schedule(float base, float top, const CyclicOptions& o, Loc loc) {
  const char* name = "cyclic_schedule";
  const LocScope at(loc);
  const int64_t up = o.steps_up, down = o.steps_down.value_or(up);
  check_rate(name, "base", base);
  check_rate(name, "top", top);
  check_rate(name, "gamma", o.gamma);
  check_schedule_steps(name, up);
  check_schedule_steps(name, down);
  check_schedule_steps(name, up + down);
  return Schedule([=, mode = o.mode, gamma = o.gamma](const Array& count) {
    const Array within = remainder(count, as_count(up + down));
    const Array height = where(within <= as_count(up), progress(within, up),
                               1.0f - progress(within - as_count(up), down));
    const Array rise = (top - base) * height;
    if (mode == CyclicMode::kTriangular) return base + rise;
    if (mode == CyclicMode::kExpRange)
      return base + rise * power(Array(gamma), astype(count, float32));
    const Array cycle = astype(floor_divide(count, as_count(up + down)), float32);
    return base + rise * power(0.5f, cycle);
  });
}

Schedule one_cycle_schedule(float peak, int64_t steps, const OneCycleOptions& o, Loc loc) {
  const char* name = "one_cycle_schedule";
  const LocScope at(loc);
  check_schedule_steps(name, steps);
  check_onecycle(name, peak, o.pct_start, o.div_factor, o.final_div_factor);
  const double all = static_cast<double>(steps), rising = o.pct_start * all - 1;
  if (steps < 2 || (o.three_phase && o.pct_start > 0.5)) {
    throw ValueError(std::string(name) + ": " + std::to_string(steps) + " steps with pct_start " +
                     spruce::internal::number_text(o.pct_start) +
                     "; give at least 2 steps, and for three phases a share of at most 0.5");
  }
  const float first = peak / o.div_factor, last = first / o.final_div_factor;
  std::vector<double> ends{rising};
  std::vector<float> values{first, peak};
  if (o.three_phase) {
    ends.push_back(2 * o.pct_start * all - 2);
    values.push_back(first);
  }
  ends.push_back(all - 1);
  values.push_back(last);
  return Schedule([=, anneal = o.anneal](const Array& count) {
    const Array t = astype(count, float32);
    Array value = last;
    for (size_t i = ends.size(); i-- > 0;) {
      const double begin = i == 0 ? 0 : ends[i - 1];
      const double length = ends[i] - begin;
      const Array at_count =
          length > 0 ? spruce::clip((t - static_cast<float>(begin)) / static_cast<float>(length),
                                    0.0f, 1.0f)
                     : Array(1.0f);
      const Array way = anneal == Interpolation::kLinear ? at_count : 1.0f - half_cosine(at_count);
      value = where(t <= static_cast<float>(ends[i]), values[i] + (values[i + 1] - values[i]) * way,
                    value);
    }
    return value;
  });
}

Schedule multiplicative_schedule(float init, const std::function<Array(const Array&)>& factor,
                                 int64_t steps, Loc loc) {
  const char* name = "multiplicative_schedule";
  const OpScope at(name, loc);
  check_rate(name, "init", init);
  check_schedule_steps(name, steps);
  const Array counts = arange(1, steps + 1, int32);
  const Array factors = vmap(factor)(counts);
  if (factors.rank() != 1) {
    throw ShapeError(std::string(name) + ": the factors are " + to_string(factors.aval()) +
                     " for the counts " + to_string(counts.aval()) +
                     "; the function must give one number, f[], for a count, i32[]");
  }
  const Array products = cumprod(astype(factors, float64), 0);
  const Array table = astype(init * concatenate({ones({1}, float64), products}, 0), float32);
  return Schedule([table, steps](const Array& count) {
    return take(table, minimum(count, static_cast<int32_t>(steps)), 0);
  });
}

Schedule chained_schedule(std::vector<Schedule> schedules, Loc loc) {
  const OpScope at("chained_schedule", loc);
  if (schedules.empty()) {
    throw ValueError("chained_schedule: no schedules; give a rate and its factors");
  }
  return Schedule([=](const Array& count) {
    Array value = schedules[0](count);
    for (size_t i = 1; i < schedules.size(); ++i) value = value * schedules[i](count);
    return value;
  });
}

}  // namespace spruce::optim
