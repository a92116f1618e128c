// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/tree/path.h"

#include <algorithm>

namespace spruce::tree::internal {

std::string path_component(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '.' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string_view take_component(std::string_view& path) {
  size_t end = 0;
  while (end < path.size() && path[end] != '.') end += path[end] == '\\' ? 2 : 1;
  const std::string_view first = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return first;
}

std::string loose_path(std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size() && (path[i + 1] == '.' || path[i + 1] == '\\')) {
      out += path[++i];
      continue;
    }
    const size_t close = path[i] == '[' ? path.find_first_not_of("0123456789", i + 1) : path.npos;
    if (close != path.npos && close > i + 1 && path[close] == ']') {
      if (!out.empty()) out += '.';
      out += path.substr(i + 1, close - i - 1);
      i = close;
      continue;
    }
    out += path[i];
  }
  return out;
}

}  // namespace spruce::tree::internal
