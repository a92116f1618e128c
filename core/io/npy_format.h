// SPDX-License-Identifier: Apache-2.0
// The format of .npy as bytes of any source.
#pragma once

#include <string>

#include "spruce/core/io/source.h"

namespace spruce::io::internal {

/// What the header of a .npy file says: a Python dict in text.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

/// Parses the text of a header, which stands at `offset` in `source`. Throws IoError.
NpyHeader parse_npy_header(const Source& source, uint64_t offset, const std::string& text);

/// The array that `source` holds as .npy, from its first byte to its last. Throws IoError.
Array read_npy(const Source& source);

/// All that stands before the elements in the .npy file of an array of that type.
std::string npy_head(const Aval& aval);

}  // namespace spruce::io::internal
