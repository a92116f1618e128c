// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/array_loop.h"

namespace spruce::nn::internal {

std::vector<Array> scan_arrays(std::vector<Array> init, const std::vector<Array>& xs, bool reverse,
                               const spruce::internal::FlatBody& step) {
  std::vector<tree::Entry> entries;
  for (size_t i = 0; i < xs.size(); ++i) entries.push_back({std::to_string(i), xs[i]});
  std::vector<std::string> paths;
  for (size_t i = 0; i < init.size(); ++i) paths.push_back("carry." + std::to_string(i));
  return spruce::internal::flat_scan("scan", std::move(init), paths,
                                     spruce::internal::slices_of("scan", entries, -1),
                                     {.reverse = reverse}, step);
}

}  // namespace spruce::nn::internal
