// SPDX-License-Identifier: Apache-2.0
// Computes a scalar::Program for one element, one operation after the other, in C++ that has
// nothing in common with kernels and generators of code.
#pragma once

#include <span>
#include <vector>

#include "spruce/core/scalar/program.h"

namespace spruce::scalar_interpreter {

/// The bits of value `result`, for inputs with these bits.
uint64_t evaluate(const scalar::Program& program, int result, std::span<const uint64_t> inputs);

}  // namespace spruce::scalar_interpreter
