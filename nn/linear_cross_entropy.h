// SPDX-License-Identifier: Apache-2.0
// The last layer of a classifier and its loss in one.
#pragma once

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// cross_entropy(linear(input, linear_weight, linear_bias), target).
///
/// Shapes:  input f[n, in] or f[in], linear_weight f[classes, in], target and options as in
///          cross_entropy, linear_bias f[classes] or undefined
/// Throws:  ShapeError, DtypeError and IndexError as linear and cross_entropy.
inline constexpr struct LinearCrossEntropyFunction {
  Array operator()(const Array& input, const Array& linear_weight, const Array& target,
                   const Array& linear_bias = {}, const CrossEntropyOptions& options = {},
                   Loc loc = Loc::current()) const;
} linear_cross_entropy{};

}  // namespace spruce::nn
