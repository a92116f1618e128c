// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/torch_names.h"

#include <charconv>

namespace spruce::nn {

std::string TorchNames::of(const std::string& path) const {
  static constexpr std::string_view kCells = "cells.";
  const size_t dot = path.rfind('.');
  if (dot == path.npos || dot == 0) return path;
  const size_t before = path.rfind('.', dot - 1);
  if (before == path.npos || before + 1 < kCells.size()) return path;
  const size_t cells = before + 1 - kCells.size();
  if (path.compare(cells, kCells.size(), kCells) != 0) return path;
  if (cells > 0 && path[cells - 1] != '.') return path;
  int64_t k = 0;
  const char* end = path.data() + dot;
  const auto number = std::from_chars(path.data() + before + 1, end, k);
  if (number.ec != std::errc() || number.ptr != end || k < 0) return path;
  const std::string prefix = path.substr(0, cells), leaf = path.substr(dot + 1);
  if (!names_.contains(prefix + leaf + "_l0_reverse"))
    return prefix + leaf + "_l" + std::to_string(k);
  return prefix + leaf + "_l" + std::to_string(k / 2) + (k % 2 == 1 ? "_reverse" : "");
}

}  // namespace spruce::nn
