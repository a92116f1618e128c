// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitives behind activations and losses.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

extern const Primitive elu_p, huber_p;

/// The parameters of elu: scale * (x where x > 0, alpha * expm1(x / divisor) elsewhere).
struct EluParams {
  double alpha = 1;
  double divisor = 1;
  double scale = 1;
};

/// The parameter of huber: x^2 / 2 where |x| < delta, delta (|x| - delta / 2) elsewhere.
struct HuberParams {
  double delta = 1;
};

}  // namespace spruce
