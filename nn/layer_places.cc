// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/layer_places.h"

namespace spruce::nn::internal {
namespace {

// The path that both begin with, whole components of it.
std::string common_path(const std::string& a, const std::string& b) {
  size_t end = 0;
  for (size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
    if (ends_a && ends_b) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return a.substr(0, end);
}

}  // namespace

std::string join_path(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + "." + b;
}

void LayerPlaces::Visitor::leaf(const Array& a, tree::Leaf kind) {
  note(&a);
  if (kind != tree::Leaf::kBuffer) return;
  const Shape shape = a.defined() ? a.shape() : Shape();
  buffers.push_back({path, &a, shape, a.defined() ? a.impl() : nullptr});
}

void LayerPlaces::Visitor::note(const void* address) {
  size_t depth = opaque.size();
  while (depth > 0 && opaque[depth - 1]) --depth;
  // lengths[i] is the length of the path in front of component i.
  places.push_back(
      {reinterpret_cast<uintptr_t>(address), path.substr(0, depth == 0 ? 0 : lengths[depth - 1])});
}

std::optional<std::string> LayerPlaces::path_of(const void* layer, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(layer);
  std::optional<std::string> path;
  for (const Place& place : places_) {
    if (place.address < begin || place.address >= begin + size) continue;
    path = path ? common_path(*path, place.parent) : place.parent;
  }
  return path;
}

}  // namespace spruce::nn::internal
