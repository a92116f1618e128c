// SPDX-License-Identifier: Apache-2.0
// The random words of element `i` of a text, of several keys one after the other.
#pragma once

#include <string>

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The expression for the words of element i of n, `per_key` of which each key gives; `keys` points
/// to the keys. After the prelude of random numbers.
std::string words_at(KernelBuilder& kernel, const std::string& keys, int64_t n, int64_t per_key);

}  // namespace spruce::cuda
