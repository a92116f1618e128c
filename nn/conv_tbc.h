// SPDX-License-Identifier: Apache-2.0
// Convolution over sequences with the time in front.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// Convolution over the time of sequences, with `padding` zeros on both sides.
///
/// Shapes:  input f[t, n, in], weight f[k, in, out], bias f[out] or undefined ->
///          f[t + 2 padding - k + 1, n, out]
/// Throws:  ShapeError where they do not fit; ValueError for a negative padding.
inline constexpr struct ConvTbcFunction {
  Array operator()(const Array& input, const Array& weight, const Array& bias = {},
                   int64_t padding = 0, Loc loc = Loc::current()) const;
} conv_tbc{};

}  // namespace spruce::nn
