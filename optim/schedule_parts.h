// SPDX-License-Identifier: Apache-2.0
// What schedules are made of.
#pragma once

#include "spruce/optim/schedules.h"

namespace spruce::optim::internal {

/// Throws ValueError for steps < 1 and beyond i32.
void check_schedule_steps(const char* op, int64_t steps);
/// Throws ValueError unless the rate is finite and not negative.
void check_rate(const char* op, const char* argument, float rate);
/// Throws ValueError for a boundary that is negative, beyond i32, or, where they have to rise, not
/// above the one before.
void check_boundaries(const char* op, const std::vector<int64_t>& boundaries, bool rising);

/// A number of steps as what counts are compared with; check_schedule_steps() has seen it.
constexpr int32_t as_count(int64_t steps) { return static_cast<int32_t>(steps); }
/// count / steps within 0..1: f32[].
Array progress(const Array& count, int64_t steps);
/// Half a cosine, 1 at 0 and 0 at 1: f32[].
Array half_cosine(const Array& at);

}  // namespace spruce::optim::internal
