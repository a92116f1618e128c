// SPDX-License-Identifier: Apache-2.0
// Rules of primitives that treat each row (the last axis) by itself.
#pragma once

#include "spruce/core/primitive.h"

/// On a lambda: inlined into the kernel that calls it, whose instruction set it then has.
#define SPRUCE_INLINE_LAMBDA __attribute__((always_inline))

namespace spruce::rules {

/// A row kernel that takes nothing but its row.
template <class T>
struct NoExtra {};

/// A floating input of rank 1 or more; the output has its type.
Aval rows_floating(const ShapeArgs& a);
/// Samples of f32 with rows of several lengths, also of none, without and with leading axes.
std::vector<Sample> row_samples();

}  // namespace spruce::rules
