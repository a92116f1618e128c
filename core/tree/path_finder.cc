// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/tree/path_finder.h"

#include "spruce/core/tree/path.h"

namespace spruce::tree::internal {

const Array* PathFinder::find(const std::string& path) {
  const Array* exact = arrays_.find(path);
  if (exact != nullptr) return exact;
  if (loose_.empty()) {
    for (const auto& [name, array] : arrays_) {
      const auto [place, fresh] = loose_.emplace(loose_path(name), &array);
      if (!fresh) place->second = nullptr;
    }
  }
  const auto found = loose_.find(loose_path(path));
  return found == loose_.end() ? nullptr : found->second;
}

}  // namespace spruce::tree::internal
