// SPDX-License-Identifier: Apache-2.0
// Draws by rejection over all elements of a key together: rounds go on until each element has been
// accepted once, and the last value that is accepted counts (core/cpu/random/key_stream.h).
#pragma once

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// The kernels of a primitive whose input 0 are keys and whose other inputs have the shape of the
/// output. `text` is put behind the prelude of random numbers and defines `struct Task`, made from
/// the elements by `Task::of(...)`:
///   bool few                      drawn without the rounds, if no element of any key needs them
///   void own(Words key, u64 place, T& y)                the draw of an element with few
///   bool attempt(Words first, Words second, u64 place, C& value)
///   T finish(C last)              the result of the rounds
/// where C is the type `computed` and T that of the output.
Kernels draw_by_rejection(const PrepareArgs& args, std::string_view text,
                          std::string_view computed);

}  // namespace spruce::cuda
