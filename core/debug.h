// SPDX-License-Identifier: Apache-2.0
// Checks on request.
#pragma once

#include <span>

#include "spruce/core/primitive.h"

namespace spruce {

/// Checks every floating result for NaN: the first operation that makes one from inputs without
/// throws ValueError and is named. A label or row number out of range, which is only known when a
/// compiled function runs, is an IndexError then (see nn::cross_entropy). Off unless the
/// environment has SPRUCE_DEBUG_NANS=1 when the program starts. Holds for all threads.
void set_debug_nans(bool on);
/// Whether results are checked now.
bool debug_nans();

namespace internal {
void check_nans(const Primitive& p, std::span<const Array> in, std::span<const Array> out);
}  // namespace internal

}  // namespace spruce
