// SPDX-License-Identifier: Apache-2.0
// Finding the arrays of a file for the leaves of a tree.
#pragma once

#include <string>
#include <unordered_map>

#include "spruce/core/named_arrays.h"

namespace spruce::tree::internal {

/// Finds arrays by the paths of leaves; where no name is the same, by those that differ only in how
/// a path is written (see loose_path), if there is one such name. Keeps a reference to the arrays.
class PathFinder {
 public:
  explicit PathFinder(const NamedArrays& arrays) : arrays_(arrays) {}
  /// The array, or null.
  const Array* find(const std::string& path);

 private:
  const NamedArrays& arrays_;
  std::unordered_map<std::string, const Array*> loose_;  // null where two names are meant
};

}  // namespace spruce::tree::internal
