// SPDX-License-Identifier: Apache-2.0
// Parameters of the gelu primitive.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

struct GeluParams {
  bool tanh;  ///< the approximation with tanh instead of the error function
};

extern const Primitive gelu_p;

}  // namespace spruce
