// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedules.h"

#include <algorithm>
#include <numbers>

namespace spruce::optim {
namespace {

void check_steps(const char* name, int64_t steps) {
  if (steps < 1) {
    throw ValueError(std::string(name) + ": " + std::to_string(steps) +
                     " steps; a schedule needs at least one");
  }
}

Array progress(const Array& count, int64_t steps) {
  return clip(astype(count, float32), 0.0f, static_cast<float>(steps)) / static_cast<float>(steps);
}

Array half_cosine(const Array& at) { return 0.5f * (1.0f + cos(std::numbers::pi_v<float> * at)); }

}  // namespace

Schedule constant_schedule(float value) { return Schedule(value); }

Schedule linear_schedule(float init, float end, int64_t steps, Loc loc) {
  const LocScope at(loc);
  check_steps("linear_schedule", steps);
  return Schedule([=](const Array& count) { return init + (end - init) * progress(count, steps); });
}

Schedule exponential_decay(float init, int64_t steps, float rate, bool staircase, Loc loc) {
  const LocScope at(loc);
  check_steps("exponential_decay", steps);
  return Schedule([=](const Array& count) {
    const Array exponent = astype(count, float32) / static_cast<float>(steps);
    return init * power(Array(rate), staircase ? floor(exponent) : exponent);
  });
}

Schedule cosine_decay(float init, int64_t steps, float alpha, Loc loc) {
  const LocScope at(loc);
  check_steps("cosine_decay", steps);
  return Schedule([=](const Array& count) {
    return init * ((1.0f - alpha) * half_cosine(progress(count, steps)) + alpha);
  });
}

Schedule warmup_cosine_decay(float init, float peak, int64_t warmup_steps, int64_t total_steps,
                             float end, Loc loc) {
  const LocScope at(loc);
  if (warmup_steps < 0 || total_steps <= warmup_steps) {
    throw ValueError("warmup_cosine_decay: " + std::to_string(warmup_steps) +
                     " steps of warmup in a total of " + std::to_string(total_steps) +
                     "; the total counts both and must be the larger one");
  }
  return Schedule([=](const Array& count) {
    const Array rising = init + (peak - init) * progress(count, std::max<int64_t>(warmup_steps, 1));
    const Array falling =
        end + (peak - end) * half_cosine(progress(count - static_cast<int32_t>(warmup_steps),
                                                  total_steps - warmup_steps));
    return where(count < static_cast<int32_t>(warmup_steps), rising, falling);
  });
}

Schedule piecewise_constant(float init, std::vector<int64_t> boundaries, std::vector<float> scales,
                            Loc loc) {
  const LocScope at(loc);
  if (boundaries.size() != scales.size()) {
    throw ValueError("piecewise_constant: " + std::to_string(boundaries.size()) +
                     " boundaries and " + std::to_string(scales.size()) +
                     " scales; give one scale for each boundary");
  }
  return Schedule([=](const Array& count) {
    Array value = init;
    for (size_t i = 0; i < boundaries.size(); ++i) {
      value = value * where(count >= static_cast<int32_t>(boundaries[i]), scales[i], 1.0f);
    }
    return value;
  });
}

}  // namespace spruce::optim
