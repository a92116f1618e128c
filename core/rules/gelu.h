// SPDX-License-Identifier: Apache-2.0
// Parameters of the gelu primitive.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// The parameter of gelu.
struct GeluParams {
  bool tanh;  ///< the approximation with tanh instead of the error function
};

/// f[...] -> f[...] of the same type: see nn::gelu.
extern const Primitive gelu_p;

}  // namespace spruce
