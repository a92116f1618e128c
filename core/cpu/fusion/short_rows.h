// SPDX-License-Identifier: Apache-2.0
// Reductions of rows that are too short for vectors: several rows at a time, so that no result
// waits for the one before it.
#pragma once

#include "spruce/core/cpu/fusion/stage.h"

namespace spruce::cpu {

/// to[r] = the reduction of the n > 0 elements of row r, in their order; null for dtypes other than
/// f32 and f64.
using ShortRows = void (*)(const void* from, void* to, int64_t rows, int64_t n);
ShortRows short_rows(Stage::Kind kind, Dtype dtype);

}  // namespace spruce::cpu
