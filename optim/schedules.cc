// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedules.h"

#include <algorithm>
#include <limits>
#include <numbers>

namespace spruce::optim {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();  // of a count of updates

void check_steps(const char* name, int64_t steps) {
  if (steps < 1) {
    throw ValueError(std::string(name) + ": " + std::to_string(steps) +
                     " steps; a schedule needs at least one");
  }
  if (steps > kLargest) {
    throw ValueError(std::string(name) + ": " + std::to_string(steps) +
                     " steps; updates are counted up to " + std::to_string(kLargest));
  }
}

void check_rate(const char* name, const char* argument, float rate) {
  check_range(name, argument, rate, Range::kNotNegative);
}

Array progress(const Array& count, int64_t steps) {
  return spruce::clip(astype(count, float32), 0.0f, static_cast<float>(steps)) /
         static_cast<float>(steps);
}

Array half_cosine(const Array& at) { return 0.5f * (1.0f + cos(std::numbers::pi_v<float> * at)); }

}  // namespace

Schedule constant_schedule(float value, Loc loc) {
  const LocScope at(loc);
  check_rate("constant_schedule", "value", value);
  return Schedule(value);
}

Schedule linear_schedule(float init, float end, int64_t steps, Loc loc) {
  const LocScope at(loc);
  check_rate("linear_schedule", "init", init);
  check_rate("linear_schedule", "end", end);
  check_steps("linear_schedule", steps);
  return Schedule([=](const Array& count) { return init + (end - init) * progress(count, steps); });
}

Schedule exponential_decay(float init, int64_t steps, float rate, bool staircase, Loc loc) {
  const LocScope at(loc);
  check_rate("exponential_decay", "init", init);
  check_rate("exponential_decay", "rate", rate);
  check_steps("exponential_decay", steps);
  return Schedule([=](const Array& count) {
    const Array exponent = astype(count, float32) / static_cast<float>(steps);
    return init * power(Array(rate), staircase ? floor(exponent) : exponent);
  });
}

Schedule cosine_decay_schedule(float init, int64_t steps, float alpha, Loc loc) {
  const OpScope at("cosine_decay_schedule", loc);
  check_rate("cosine_decay_schedule", "init", init);
  check_rate("cosine_decay_schedule", "alpha", alpha);
  check_steps("cosine_decay_schedule", steps);
  return Schedule([=](const Array& count) {
    return init * ((1.0f - alpha) * half_cosine(progress(count, steps)) + alpha);
  });
}

Schedule warmup_cosine_decay_schedule(float init, float peak, int64_t warmup_steps,
                                      int64_t total_steps, float end, Loc loc) {
  const char* name = "warmup_cosine_decay_schedule";
  const OpScope at(name, loc);
  check_rate(name, "init", init);
  check_rate(name, "peak", peak);
  check_rate(name, "end", end);
  if (warmup_steps < 0 || total_steps <= warmup_steps) {
    throw ValueError(std::string(name) + ": " + std::to_string(warmup_steps) +
                     " steps of warmup in a total of " + std::to_string(total_steps) +
                     "; the total counts both and must be the larger one");
  }
  check_steps(name, total_steps);
  return Schedule([=](const Array& count) {
    const Array rising = init + (peak - init) * progress(count, std::max<int64_t>(warmup_steps, 1));
    const Array falling =
        end + (peak - end) * half_cosine(progress(count - static_cast<int32_t>(warmup_steps),
                                                  total_steps - warmup_steps));
    return where(count < static_cast<int32_t>(warmup_steps), rising, falling);
  });
}

Schedule piecewise_constant_schedule(float init, std::vector<int64_t> boundaries,
                                     std::vector<float> scales, Loc loc) {
  const char* name = "piecewise_constant_schedule";
  const OpScope at(name, loc);
  check_rate(name, "init", init);
  if (boundaries.size() != scales.size()) {
    throw ValueError(std::string(name) + ": " + std::to_string(boundaries.size()) +
                     " boundaries and " + std::to_string(scales.size()) +
                     " scales; give one scale for each boundary");
  }
  for (const float scale : scales) check_rate(name, "a scale", scale);
  for (const int64_t at_update : boundaries) {
    if (at_update < 0 || at_update > kLargest) {
      throw ValueError(std::string(name) + ": a boundary is " + std::to_string(at_update) +
                       ", it must be within 0.." + std::to_string(kLargest));
    }
  }
  return Schedule([=](const Array& count) {
    Array value = init;
    for (size_t i = 0; i < boundaries.size(); ++i) {
      value = value * where(count >= static_cast<int32_t>(boundaries[i]), scales[i], 1.0f);
    }
    return value;
  });
}

Schedule cosine_decay(float init, int64_t steps, float alpha, Loc loc) {
  const OpScope at("cosine_decay", loc);
  return cosine_decay_schedule(init, steps, alpha);
}

Schedule warmup_cosine_decay(float init, float peak, int64_t warmup_steps, int64_t total_steps,
                             float end, Loc loc) {
  const OpScope at("warmup_cosine_decay", loc);
  return warmup_cosine_decay_schedule(init, peak, warmup_steps, total_steps, end);
}

Schedule piecewise_constant(float init, std::vector<int64_t> boundaries, std::vector<float> scales,
                            Loc loc) {
  const OpScope at("piecewise_constant", loc);
  return piecewise_constant_schedule(init, std::move(boundaries), std::move(scales));
}

}  // namespace spruce::optim
