// SPDX-License-Identifier: Apache-2.0
// Copies of elements from places at regular steps to such places.
#pragma once

#include "spruce/cuda/codegen/expression.h"

namespace spruce::cuda {

/// One side of a copy.
struct Strided {
  Place place;         ///< the array
  int64_t offset = 0;  ///< of the first element, in elements
  Shape steps;         ///< along the axes of the copy, in elements; of any sign
};

/// Copies `shape` elements of `bytes` bytes. Axes that change places with the innermost one go
/// through tiles in shared memory.
void strided_copy(const PrepareArgs& args, const Shape& shape, int64_t bytes, const Strided& from,
                  const Strided& to, Kernels& out);

/// The unsigned type of that many bytes in a text.
std::string_view bits_type(int64_t bytes);
/// Declares the array as elements of that type, whatever its dtype; returns an expression for the
/// pointer.
std::string declare_bits(KernelBuilder& kernel, const Place& place, int64_t bytes);

/// The place of an input and of an output.
inline Place of_input(size_t i) { return {Place::Kind::kInput, i, 0}; }
inline Place of_output(size_t i) { return {Place::Kind::kOutput, i, 0}; }
inline Place of_workspace(int64_t offset) { return {Place::Kind::kWorkspace, 0, offset}; }

/// Copies a whole array of the same bytes, from an input that may be a number of the host. Steps
/// after it do not read that input: the output may stand in its place.
void whole_copy(const PrepareArgs& args, size_t input, size_t output, Kernels& out);

}  // namespace spruce::cuda
