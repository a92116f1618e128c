// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitives behind activations and losses.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// f[...] -> f[...] of the same type.
extern const Primitive elu_p, huber_p;

/// The parameters of elu: scale * (x where x > 0, alpha * expm1(x / divisor) elsewhere).
struct EluParams {
  double alpha = 1;    ///< the limit far below 0 is -alpha * scale
  double divisor = 1;  ///< stretches the part below 0; celu has its alpha there
  double scale = 1;    ///< of the whole, as in selu
};

/// The parameter of huber: x^2 / 2 where |x| < delta, delta (|x| - delta / 2) elsewhere.
struct HuberParams {
  double delta = 1;  ///< where the parabola ends
};

}  // namespace spruce
