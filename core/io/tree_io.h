// SPDX-License-Identifier: Apache-2.0
// Any tree as a safetensors file: the paths of its leaves are the names.
#pragma once

#include "spruce/core/io/safetensors.h"
#include "spruce/core/tree/named_arrays.h"

namespace spruce::io {
namespace internal {

NamedArrays named_leaves(const std::vector<tree::Entry>& entries);
/// The arrays of `file` in the order of `entries`. Throws TreeError listing all names that are
/// missing or unexpected, and ShapeError or DtypeError where an array does not fit its leaf.
std::vector<Array> matched_leaves(const std::string& path, const NamedArrays& file,
                                  const std::vector<tree::Entry>& entries);

}  // namespace internal

/// Saves the leaves of a tree under their paths ("hidden.weight"); buffers and keys too. Leaves
/// that are undefined are left out. Static fields are not saved: they are part of the program.
/// Throws IoError; the old file stays whole then.
template <class T>
requires(!std::is_same_v<T, NamedArrays>) void save_tree(const std::string& path, const T& x) {
  save_safetensors(path, internal::named_leaves(tree::entries(x)));
}

/// A tree like `like` with the arrays of a file that save_tree wrote. Throws IoError for a damaged
/// file, and TreeError, ShapeError or DtypeError where the file does not fit the tree.
template <class T>
T load_tree(const std::string& path, const T& like) {
  return tree::unflatten(
      like, internal::matched_leaves(path, load_safetensors(path), tree::entries(like)));
}

}  // namespace spruce::io
