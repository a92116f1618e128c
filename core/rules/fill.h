// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/array.h"

namespace spruce::rules {

/// `value`, of rank 0, at every place of `shape`. Stands on the device of `value` where that was
/// chosen, else on the default device. Throws ShapeError naming `op` for shapes that are too large.
Array filled(const char* op, const Shape& shape, const Array& value);

}  // namespace spruce::rules
