// SPDX-License-Identifier: Apache-2.0
// Indices of classes and rows: checked where their values are known, NaN where they are not.
#pragma once

#include "spruce/core/known_values.h"
#include "spruce/core/rules/nan_outside.h"

namespace spruce::nn {

using spruce::internal::has_known_values;

/// Throws the IndexError of `p` where a known index is not within 0..p.size-1: a negative one too,
/// which take() counts from the end.
void check_known(const Array& index, const NanOutsideParams& p);
/// False where a known number of x is outside of low..high. NaN is not outside.
bool may_be_within(const Array& x, double low, double high);

/// Indices of an axis of size n as i32, or i64 where these are too narrow for n or their dtype.
Array widened(const Array& index, int64_t n);
/// 1 where an index, as widened() gives it, is within 0..p.size-1, NaN elsewhere. As a factor it
/// makes the results of such indices NaN, and their gradients as well.
Array nan_outside(const Array& index, const NanOutsideParams& p);

}  // namespace spruce::nn
