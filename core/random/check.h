// SPDX-License-Identifier: Apache-2.0
// What the functions of random ask of their arguments.
#pragma once

#include "spruce/core/random/key.h"

namespace spruce::random::internal {

/// The data of a single key. Throws ValueError for no key, ShapeError for a batch of keys.
const Array& one_key(const char* op, const Key& key);
/// Throws DtypeError, naming `op`, unless the dtype is floating.
void require_floating(const char* op, Dtype dtype);

/// The key on the device of `x`, for random numbers that meet its elements. The numbers are the
/// same on every device.
Key key_beside(const Key& key, const Array& x);

}  // namespace spruce::random::internal
