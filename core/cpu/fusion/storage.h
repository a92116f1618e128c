// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace spruce::cpu {

/// Where the elements of a value stand that outlives its nest, with the strides that its space
/// says.
struct Storage {
  enum class Kind : uint8_t {
    kNone,
    kInput,
    kConstant,
    kOutput,
    kWorkspace,
    kPieces  ///< in several places: fusion::Space::pieces
  } kind = Kind::kNone;
  size_t at = 0;               ///< number of the input or output; bytes into the workspace
  const void* data = nullptr;  ///< of a constant
  int64_t offset = 0;          ///< bytes from there to the first element: of a part
};

}  // namespace spruce::cpu
