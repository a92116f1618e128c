// SPDX-License-Identifier: Apache-2.0
// Primitives in which optimizers make one pass over their arrays instead of several.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// The factors of scaled_add.
struct ScaledAddParams {
  double alpha;  ///< of the first array
  double beta;   ///< of the second one
};

/// The constants of adam_direction.
struct AdamDirectionParams {
  double eps;       ///< added to the root, outside of it
  double eps_root;  ///< added under the root
};

/// The primitives of the two functions below.
extern const Primitive scaled_add_p, adam_direction_p;

/// alpha * a + beta * b for two floating arrays of one type. Throws ShapeError or DtypeError.
Array scaled_add(const Array& a, double alpha, const Array& b, double beta);

/// (mu / c1) / (sqrt(nu / c2 + eps_root) + eps) for moments of one type and bias corrections f[] of
/// their dtype.
Array adam_direction(const Array& mu, const Array& nu, const Array& c1, const Array& c2,
                     const AdamDirectionParams& params);

namespace rules {

/// Two floating inputs of one shape and dtype; the output has their type.
Aval same_pair(const ShapeArgs& a);

}  // namespace rules
}  // namespace spruce
