// SPDX-License-Identifier: Apache-2.0
// A function as a file: its graph, its constants, and the forms of its arguments and of its result.
//
//   bytes 0 to 7    "SPRUCEFN"
//   8 to 11         the version of the format
//   12 to 15        CRC-32 of all bytes from 16 on
//   16 to 23        n, the bytes of the text
//   24 to 31        the bytes of the whole file
//   32 to 32 + n    text: lines of the forms, then the graph
//   then            the constants of the text, in order, each at the next multiple of 64 bytes
//
// Numbers are little-endian.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/core/io/source.h"

namespace spruce::io {

/// One thing that the walk over a tree comes by.
struct FormLine {
  /// "leaf", "buffer", "key", "none" (an undefined leaf), "static", "size" (of a container) or
  /// "entry" (the name of one in a map).
  std::string kind;
  std::string path;  ///< where in the tree: "0.hidden.weight"; of a result "hidden.weight"
  /// Of a static value its text, of a size the number, of an entry the name; else "".
  std::string value;
  /// All three are the same.
  friend bool operator==(const FormLine&, const FormLine&) = default;
};

/// What such a file holds. The inputs of the graph are the defined leaves of the arguments in
/// order, the outputs those of the result.
struct FunctionFile {
  std::vector<FormLine> arguments;  ///< the form of the tuple of arguments
  std::vector<FormLine> result;     ///< the form of what the function returns
  Graph graph;                      ///< the function on the leaves
};

/// Writes the file; the old one is replaced as a whole or not at all. The same function gives the
/// same bytes. Throws IoError; TracerError for a graph that holds traced values; GraphError for one
/// with rules of custom_jvp or custom_vjp, which are code.
void save_function_file(const std::string& path, const FunctionFile& function);

/// Reads it back. Every byte is covered by a checksum, every size is checked before memory is asked
/// for, and the graph is checked. Throws IoError for anything else than a whole file of a version
/// that this library knows.
FunctionFile load_function_file(const std::string& path);

namespace internal {

/// The text of the file at its beginning, and the arrays behind it.
FunctionFile read_function(const Source& source);

}  // namespace internal
}  // namespace spruce::io
