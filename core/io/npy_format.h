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

/// What stands before the elements of a .npy file.
struct NpyHead {
  NpyHeader header;
  Aval aval;          // of the array, with the axes of the header
  uint64_t text = 0;  // where the header's text begins
  uint64_t data = 0;  // where the elements do

  bool big_endian() const { return header.descr[0] == '>' && size_of(aval.dtype) > 1; }
  /// Whether the elements stand in another order than those of an array.
  bool reversed() const { return header.fortran_order && aval.shape.rank() > 1; }
};

/// Reads and checks all but the elements, which are all there and end the file. Throws IoError.
NpyHead read_npy_head(const Source& source);

/// Parses the text of a header, which stands at `offset` in `source`. Throws IoError.
NpyHeader parse_npy_header(const Source& source, uint64_t offset, const std::string& text);

/// The array that `source` holds as .npy, from its first byte to its last. Throws IoError.
Array read_npy(const Source& source);

/// All that stands before the elements in the .npy file of an array of that type.
std::string npy_head(const Aval& aval);

}  // namespace spruce::io::internal
