// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/observe.h"

namespace spruce::nn::internal {

LayerObserver::Part::Part(const LayerPlaces& places, const std::string& path) {
  for (LayerObserver* o = current_; o != nullptr; o = o->outer_)
    o->parts_.emplace_back(path, places);
}

LayerObserver::Part::~Part() {
  for (LayerObserver* o = current_; o != nullptr; o = o->outer_) o->parts_.pop_back();
}

void LayerObserver::called(const void* layer, size_t size, const char* type, const Array& output,
                           int64_t multiply_adds) {
  for (LayerObserver* o = current_; o != nullptr; o = o->outer_) {
    for (const auto& [part, places] : o->parts_) {
      const std::optional<std::string> path = places.path_of(layer, size);
      if (!path) continue;
      o->calls.push_back({join_path(part, *path), type, output, multiply_adds});
      break;
    }
  }
}

}  // namespace spruce::nn::internal
