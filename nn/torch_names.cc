// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/torch_names.h"

#include <charconv>

namespace spruce::nn {

std::string torch_name(const std::string& path, bool bidirectional) {
  static constexpr std::string_view kCells = "cells.";
  const size_t cells = path.starts_with(kCells) ? 0 : path.rfind(".cells.") + 1;
  if (cells == 0 && !path.starts_with(kCells)) return path;
  const char* const first = path.data() + cells + kCells.size();
  const char* const end = path.data() + path.size();
  int64_t k = 0;
  const auto number = std::from_chars(first, end, k);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '.' || k < 0) return path;
  std::string name = path.substr(0, cells);
  name.append(number.ptr + 1, end);
  name += "_l" + std::to_string(bidirectional ? k / 2 : k);
  return bidirectional && k % 2 == 1 ? name + "_reverse" : name;
}

}  // namespace spruce::nn
