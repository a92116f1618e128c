// SPDX-License-Identifier: Apache-2.0
// Operands of a function that a batch runs for all examples although only some of them need it: a
// branch that not all take, a step of a loop that some have left.
#pragma once

#include "spruce/transforms/control/body/body_rules.h"

namespace spruce::internal {

/// The operands `in`, of which those in `batched` have the examples in front, as the function
/// should see them when only the examples in `mask`, bool[examples], count.
///
/// No gradient comes back from the other examples: 0 times infinity would be NaN. Arrays that all
/// examples share get theirs as one sum, in which one NaN is enough; so where there are any, the
/// others compute with the mapped operands of the first example that counts, and if none does, no
/// gradient at all comes back.
std::vector<Array> masked_operands(std::vector<Array> in, const Mask& batched, const Array& mask);

}  // namespace spruce::internal
