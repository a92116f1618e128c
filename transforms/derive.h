// SPDX-License-Identifier: Apache-2.0
// Rules that a fused composite does not state: derived from its slow form (`expand`).
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::internal {

/// The value by the fused primitive, the tangent by differentiating `expand`.
void jvp_by_expansion(const JvpArgs& args);
/// vmap of `expand`.
void batch_by_expansion(const BatchArgs& args);

}  // namespace spruce::internal
