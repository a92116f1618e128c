// SPDX-License-Identifier: Apache-2.0
// Scalar programs (core/scalar) as text over the functions of the prelude. 16-bit floats are held
// as the f32 of their value.
#pragma once

#include <span>
#include <string>

#include "spruce/core/scalar/program.h"

namespace spruce::cuda {

/// Statements that declare `v<n>` for each value n that the results need. Input k is `e<k>`.
std::string scalar_text(const scalar::Program& program, std::span<const int> results);

/// True if the text of these results calls special functions (special_prelude()).
bool needs_special(const scalar::Program& program);

}  // namespace spruce::cuda
