// SPDX-License-Identifier: Apache-2.0
// Neighbours that a thread loads and stores as one vector of up to 16 bytes.
#pragma once

#include <string_view>

#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

/// sp::load and sp::store. After the scalar prelude.
std::string_view vector_prelude();

/// How many neighbours on the innermost axis a thread takes, where the largest elements have
/// `largest` bytes; 1 if they are no neighbours in each array.
int64_t vector_size(const Walk& walk, int64_t largest);

}  // namespace spruce::cuda
