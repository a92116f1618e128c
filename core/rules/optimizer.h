// SPDX-License-Identifier: Apache-2.0
// Primitives in which optimizers make one pass over their arrays instead of several.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

struct ScaledAddParams {
  double alpha;
  double beta;
};

struct AdamDirectionParams {
  double eps;
  double eps_root;
};

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
