// SPDX-License-Identifier: Apache-2.0
// Moving arrays between devices.
#pragma once

#include "spruce/core/array.h"

namespace spruce {

/// The same values on another device; `x` itself if it stands there already. Throws TracerError for
/// a traced value.
Array to_device(const Array& x, Device& device, Loc loc = Loc::current());

}  // namespace spruce
