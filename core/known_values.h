// SPDX-License-Identifier: Apache-2.0
// Whether the elements of an array can be read before what uses them runs.
#pragma once

#include "spruce/core/array.h"

namespace spruce::internal {

/// Whether the values of `x` can be read now; they cannot under vmap and jit, nor on other devices
/// than the CPU.
bool has_known_values(const Array& x);
/// Those values: of an array with a tangent, the ones that the transform was given. Only where
/// has_known_values(x).
Array known_values(const Array& x);

}  // namespace spruce::internal
