// SPDX-License-Identifier: Apache-2.0
// Accumulators of reductions: what they start from, how results of pieces join them, and what
// becomes of them.
#pragma once

#include "spruce/core/cpu/fusion/stage.h"

namespace spruce::cpu {

/// The kind of what a reduction that `fusible` accepts makes of its elements. Bools reduce by `and`
/// and `or` as by min and max.
Stage::Kind reduction_kind(Monoid reduces_by);

/// Writes the identity to n accumulators of reductions of that dtype.
void gather_start(Stage::Kind kind, Dtype value, void* acc, int64_t n);
/// What f32 parts of a reduction start from.
float gather_identity(Stage::Kind kind);
/// acc[i * step] takes in from[i], for i < n, where `from` has the value's dtype, or f32 for the
/// 16-bit floats if `wide`.
void gather(Stage::Kind kind, Dtype value, bool wide, const void* from, void* acc, int64_t n,
            int64_t step);
/// acc[i] takes in other accumulators.
void gather_parts(Stage::Kind kind, Dtype value, const void* parts, void* acc, int64_t n);
/// to[i] = acc[i] in the value's dtype.
void gather_finish(Stage::Kind kind, Dtype value, const void* acc, void* to, int64_t n);

}  // namespace spruce::cpu
