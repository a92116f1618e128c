// SPDX-License-Identifier: Apache-2.0
// Parameters of primitives over a named mapped axis.
#pragma once

#include <string>

#include "spruce/core/primitive.h"

namespace spruce {

/// The parameter of primitives that go along a named axis of vmap.
struct CollectiveParams {
  std::string axis_name;  ///< VmapOptions::axis_name of a vmap around them
};

/// The sum of an array over all slices: psum().
extern const Primitive psum_p;
/// i32[], the number of the slice: axis_index(); no inputs.
extern const Primitive axis_index_p;

}  // namespace spruce
