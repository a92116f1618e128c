// SPDX-License-Identifier: Apache-2.0
// Neighbours that a thread loads and stores as one vector of up to 16 bytes.
#pragma once

#include <string_view>

#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

/// sp::load, sp::store and sp::move, to and from addresses that may be multiples of one element
/// only. After the scalar prelude.
std::string_view vector_prelude();

/// How many neighbours on the innermost axis a thread takes, where the largest elements have
/// `largest` bytes; 1 if they are no neighbours in each array.
int64_t vector_size(const Walk& walk, int64_t largest);

/// How many elements of `bytes` bytes may be copied as one.
int64_t neighbours(const Walk& walk, int64_t bytes);

/// The walk from one vector of n neighbours to the next, with steps in elements. A single axis may
/// end with a part of one.
Walk widened(Walk walk, int64_t n);

}  // namespace spruce::cuda
