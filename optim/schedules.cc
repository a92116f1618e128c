// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedules.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "spruce/optim/schedule_parts.h"

namespace spruce::optim {
namespace internal {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();  // of a count of updates

}  // namespace

void check_schedule_steps(const char* op, int64_t steps) {
  if (steps < 1) {
    throw ValueError(std::string(op) + ": " + std::to_string(steps) +
                     " steps; a schedule needs at least one");
  }
  if (steps > kLargest) {
    throw ValueError(std::string(op) + ": " + std::to_string(steps) +
                     " steps; updates are counted up to " + std::to_string(kLargest));
  }
}

void check_rate(const char* op, const char* argument, float rate) {
  spruce::internal::check_range(op, argument, rate, spruce::internal::Range::kNotNegative);
}

void check_boundaries(const char* op, const std::vector<int64_t>& boundaries, bool rising) {
  int64_t last = -1;
  for (const int64_t at_update : boundaries) {
    if (at_update < 0 || at_update > kLargest) {
      throw ValueError(std::string(op) + ": a boundary is " + std::to_string(at_update) +
                       ", it must be within 0.." + std::to_string(kLargest));
    }
    if (rising && at_update <= last) {
      throw ValueError(std::string(op) + ": boundary " + std::to_string(at_update) + " follows " +
                       std::to_string(last) + "; give them in rising order");
    }
    last = at_update;
  }
}

Array progress(const Array& count, int64_t steps) {
  return spruce::clip(astype(count, float32), 0.0f, static_cast<float>(steps)) /
         static_cast<float>(steps);
}

Array half_cosine(const Array& at) { return 0.5f * (1.0f + cos(std::numbers::pi_v<float> * at)); }

}  // namespace internal

namespace {

using internal::as_count, internal::check_boundaries, internal::check_rate, internal::half_cosine,
    internal::progress;

void check_steps(const char* op, int64_t steps, int64_t begin = 0) {
  internal::check_schedule_steps(op, steps);
  check_boundaries(op, {begin}, false);
}

void check_scales(const char* op, float init, const std::vector<int64_t>& boundaries,
                  const std::vector<float>& scales) {
  check_rate(op, "init", init);
  if (boundaries.size() != scales.size()) {
    throw ValueError(std::string(op) + ": " + std::to_string(boundaries.size()) +
                     " boundaries and " + std::to_string(scales.size()) +
                     " scales; give one scale for each boundary");
  }
  for (const float scale : scales) check_rate(op, "a scale", scale);
}

}  // namespace

Schedule constant_schedule(float value, Loc loc) {
  const LocScope at(loc);
  check_rate("constant_schedule", "value", value);
  return Schedule(value);
}

Schedule linear_schedule(float init, float end, int64_t steps, int64_t begin, Loc loc) {
  const LocScope at(loc);
  check_rate("linear_schedule", "init", init);
  check_rate("linear_schedule", "end", end);
  check_steps("linear_schedule", steps, begin);
  return Schedule([=](const Array& count) {
    return init + (end - init) * progress(count - as_count(begin), steps);
  });
}

Schedule polynomial_schedule(float init, float end, float power, int64_t steps, int64_t begin,
                             Loc loc) {
  const LocScope at(loc);
  check_rate("polynomial_schedule", "init", init);
  check_rate("polynomial_schedule", "end", end);
  check_rate("polynomial_schedule", "power", power);
  check_steps("polynomial_schedule", steps, begin);
  return Schedule([=](const Array& count) {
    const Array left = 1.0f - progress(count - as_count(begin), steps);
    return (init - end) * spruce::power(left, power) + end;
  });
}

Schedule exponential_decay(float init, int64_t steps, float rate, bool staircase, int64_t begin,
                           std::optional<float> end, Loc loc) {
  const LocScope at(loc);
  check_rate("exponential_decay", "init", init);
  check_rate("exponential_decay", "rate", rate);
  if (end) check_rate("exponential_decay", "end", *end);
  check_steps("exponential_decay", steps, begin);
  return Schedule([=](const Array& count) {
    const Array since = astype(maximum(count - as_count(begin), 0), float32);
    const Array exponent = since / static_cast<float>(steps);
    const Array value = init * power(Array(rate), staircase ? floor(exponent) : exponent);
    if (!end) return value;
    return rate < 1 ? maximum(value, *end) : minimum(value, *end);
  });
}

Schedule cosine_decay_schedule(float init, int64_t steps, float alpha, float exponent, Loc loc) {
  const OpScope at("cosine_decay_schedule", loc);
  check_rate("cosine_decay_schedule", "init", init);
  check_rate("cosine_decay_schedule", "alpha", alpha);
  check_rate("cosine_decay_schedule", "exponent", exponent);
  check_steps("cosine_decay_schedule", steps);
  return Schedule([=](const Array& count) {
    const Array cosine = half_cosine(progress(count, steps));
    return init * ((1.0f - alpha) * (exponent == 1 ? cosine : power(cosine, exponent)) + alpha);
  });
}

Schedule warmup_constant_schedule(float init, float peak, int64_t warmup_steps, Loc loc) {
  const OpScope at("warmup_constant_schedule", loc);
  return linear_schedule(init, peak, warmup_steps);
}

Schedule warmup_cosine_decay_schedule(float init, float peak, int64_t warmup_steps,
                                      int64_t total_steps, float end, float exponent, Loc loc) {
  const char* name = "warmup_cosine_decay_schedule";
  const OpScope at(name, loc);
  check_rate(name, "init", init);
  check_rate(name, "peak", peak);
  check_rate(name, "end", end);
  check_rate(name, "exponent", exponent);
  if (warmup_steps < 0 || total_steps <= warmup_steps) {
    throw ValueError(std::string(name) + ": " + std::to_string(warmup_steps) +
                     " steps of warmup in a total of " + std::to_string(total_steps) +
                     "; the total counts both and must be the larger one");
  }
  check_steps(name, total_steps);
  return Schedule([=](const Array& count) {
    const Array rising = init + (peak - init) * progress(count, std::max<int64_t>(warmup_steps, 1));
    const Array cosine =
        half_cosine(progress(count - as_count(warmup_steps), total_steps - warmup_steps));
    const Array falling = end + (peak - end) * (exponent == 1 ? cosine : power(cosine, exponent));
    return where(count < as_count(warmup_steps), rising, falling);
  });
}

Schedule warmup_exponential_decay_schedule(float init, float peak, int64_t warmup_steps,
                                           int64_t steps, float rate,
                                           const WarmupExponentialOptions& o, Loc loc) {
  const OpScope at("warmup_exponential_decay_schedule", loc);
  return join_schedules({linear_schedule(init, peak, warmup_steps),
                         exponential_decay(peak, steps, rate, o.staircase, o.begin, o.end)},
                        {warmup_steps});
}

Schedule piecewise_constant_schedule(float init, std::vector<int64_t> boundaries,
                                     std::vector<float> scales, Loc loc) {
  const char* name = "piecewise_constant_schedule";
  const OpScope at(name, loc);
  check_scales(name, init, boundaries, scales);
  check_boundaries(name, boundaries, false);
  return Schedule([=](const Array& count) {
    Array value = init;
    for (size_t i = 0; i < boundaries.size(); ++i) {
      value = value * where(count >= as_count(boundaries[i]), scales[i], 1.0f);
    }
    return value;
  });
}

Schedule piecewise_interpolate_schedule(Interpolation interpolation, float init,
                                        std::vector<int64_t> boundaries, std::vector<float> scales,
                                        Loc loc) {
  const char* name = "piecewise_interpolate_schedule";
  const OpScope at(name, loc);
  check_scales(name, init, boundaries, scales);
  check_boundaries(name, boundaries, true);
  return Schedule([=](const Array& count) {
    std::vector<float> values{init};
    for (const float scale : scales) values.push_back(values.back() * scale);
    Array value = values.back();
    for (size_t i = boundaries.size(); i-- > 0;) {
      const int64_t begin = i == 0 ? 0 : boundaries[i - 1];
      const Array at_count =
          progress(count - as_count(begin), std::max<int64_t>(boundaries[i] - begin, 1));
      const Array way =
          interpolation == Interpolation::kLinear ? at_count : 1.0f - half_cosine(at_count);
      value = where(count < as_count(boundaries[i]), values[i] + (values[i + 1] - values[i]) * way,
                    value);
    }
    return value;
  });
}

Schedule join_schedules(std::vector<Schedule> schedules, std::vector<int64_t> boundaries, Loc loc) {
  const OpScope at("join_schedules", loc);
  if (schedules.size() != boundaries.size() + 1) {
    throw ValueError("join_schedules: " + std::to_string(schedules.size()) + " schedules and " +
                     std::to_string(boundaries.size()) +
                     " boundaries; give one boundary between each two schedules");
  }
  check_boundaries("join_schedules", boundaries, true);
  return Schedule([=](const Array& count) {
    Array value = schedules[0](count);
    for (size_t i = 0; i < boundaries.size(); ++i) {
      const int32_t begin = as_count(boundaries[i]);
      value = where(count < begin, value, schedules[i + 1](count - begin));
    }
    return value;
  });
}

Schedule cosine_decay(float init, int64_t steps, float alpha, float exponent, Loc loc) {
  const OpScope at("cosine_decay", loc);
  return cosine_decay_schedule(init, steps, alpha, exponent);
}

Schedule warmup_cosine_decay(float init, float peak, int64_t warmup_steps, int64_t total_steps,
                             float end, float exponent, Loc loc) {
  const OpScope at("warmup_cosine_decay", loc);
  return warmup_cosine_decay_schedule(init, peak, warmup_steps, total_steps, end, exponent);
}

Schedule piecewise_constant(float init, std::vector<int64_t> boundaries, std::vector<float> scales,
                            Loc loc) {
  const OpScope at("piecewise_constant", loc);
  return piecewise_constant_schedule(init, std::move(boundaries), std::move(scales));
}

}  // namespace spruce::optim
