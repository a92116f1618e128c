// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_summary.h"

namespace spruce::nn {

int64_t count(const ModuleRef& module) {
  int64_t n = 0;
  for (const auto& [name, value] : module.named_parameters()) n += value.size();
  return n;
}

namespace internal {

Summary summary_of(const LayerObserver& observer, const ModuleRef& module) {
  std::vector<tree::Entry> entries;
  for (const auto& [name, value] : module.named_parameters())
    entries.push_back({name, value, tree::Leaf::kArray});
  for (const auto& [name, value] : module.named_buffers())
    entries.push_back({name, value, tree::Leaf::kBuffer});
  return summary_of(observer, entries);
}

}  // namespace internal
}  // namespace spruce::nn
