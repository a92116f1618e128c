// SPDX-License-Identifier: Apache-2.0
// How the way to a leaf is written: "blocks.1.down.bias".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spruce::tree::internal {

/// A key of a map as one component of a path: a dot in it is written "\." and a backslash "\\", so
/// that no two leaves of a tree have one path.
std::string path_component(std::string_view key);
/// Cuts the first component off a path and returns it as it is written there; "" at the end.
std::string_view take_component(std::string_view& path);

/// A path without what tells the ways of writing it apart: that of version 0.1, "blocks[1].bias",
/// and that of programs which do not mark dots in keys, become "blocks.1.bias". Only for finding
/// what has no exact match.
std::string loose_path(std::string_view path);

// Keeps the path to where the walk over a tree is.
struct PathKeeper {
  std::string path;
  std::vector<size_t> lengths;

  void key(std::string_view) {}
  void enter(std::string_view name) {
    begin();
    path += name;
  }
  void enter(size_t i) {
    begin();
    path += std::to_string(i);
  }
  void leave() {
    path.resize(lengths.back());
    lengths.pop_back();
  }

 private:
  void begin() {
    const bool first = lengths.empty();
    lengths.push_back(path.size());
    if (!first) path += '.';
  }
};

}  // namespace spruce::tree::internal
