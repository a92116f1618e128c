// SPDX-License-Identifier: Apache-2.0
// Parameters of the layer_norm primitive.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// The parameter of layer_norm.
struct LayerNormParams {
  double eps;  ///< added to the variance
};

/// x f[..., n], weight and bias f[n] or f[1] -> the type of x: normalised over the last axis (Ba,
/// Kiros and Hinton 2016).
extern const Primitive layer_norm_p;

}  // namespace spruce
