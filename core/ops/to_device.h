// SPDX-License-Identifier: Apache-2.0
// Moving arrays between devices.
#pragma once

#include "spruce/core/array.h"

namespace spruce {

/// The same values on another device; `x` itself if it is there already. Of a traced value it is an
/// operation: a function may have parts on several devices. Its derivative moves tangents the same
/// way and cotangents back.
Array to_device(const Array& x, Device& device, Loc loc = Loc::current());

}  // namespace spruce
