// SPDX-License-Identifier: Apache-2.0
// Parameters of the layer_norm primitive.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

struct LayerNormParams {
  double eps;  ///< added to the variance
};

extern const Primitive layer_norm_p;

}  // namespace spruce
