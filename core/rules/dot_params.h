// SPDX-License-Identifier: Apache-2.0
// The parameters of products.
#pragma once

#include "spruce/core/shape.h"

namespace spruce {

/// What dot_general sums over and what it goes along. lhs_contract[i] is summed with
/// rhs_contract[i], lhs_batch[i] goes with rhs_batch[i]; negative axes count from the end.
struct DotParams {
  Axes lhs_contract;  ///< axes of a that are summed over
  Axes rhs_contract;  ///< those of b
  Axes lhs_batch;     ///< axes of a that stay side by side
  Axes rhs_batch;     ///< those of b
};

}  // namespace spruce
