// SPDX-License-Identifier: Apache-2.0
// Parameters of primitives over a named mapped axis.
#pragma once

#include <string>

#include "spruce/core/primitive.h"

namespace spruce {

struct CollectiveParams {
  std::string axis_name;
};

extern const Primitive psum_p;
extern const Primitive axis_index_p;

}  // namespace spruce
