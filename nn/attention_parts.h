// SPDX-License-Identifier: Apache-2.0
// What the forms of attention say and refuse alike.
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::nn::internal {

/// "query f32[2,3], key f32[4,3] and value f32[4,5]".
std::string types_text(const Array& query, const Array& key, const Array& value);
/// Throws DtypeError for a mask that is neither bool nor floating: integers would be added to the
/// scores as they are, which is not what masks of 0 and 1 mean. An undefined one passes.
void check_mask(const char* op, const char* name, const Array& mask);

}  // namespace spruce::nn::internal
