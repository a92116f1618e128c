// SPDX-License-Identifier: Apache-2.0
// What sums, counts or squares f16 and bf16 does so in f32 and rounds once, at the end.
#pragma once

#include "spruce/core/ops/shape.h"

namespace spruce::nn::internal {

/// f16 and bf16 as f32; other arrays as they are.
inline Array wide(const Array& x) { return is_half(x.dtype()) ? astype(x, float32) : x; }
/// What was computed of a wide() array of `dtype`, in that dtype.
inline Array narrow(const Array& y, Dtype dtype) { return is_half(dtype) ? astype(y, dtype) : y; }

}  // namespace spruce::nn::internal
