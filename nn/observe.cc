// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/observe.h"

namespace spruce::nn::internal {

void LayerObserver::called(const void* layer, size_t size, const char* type, const Array& output,
                           int64_t multiply_adds) {
  for (LayerObserver* o = current_; o != nullptr; o = o->outer_) {
    if (std::optional<std::string> path = o->places_.path_of(layer, size))
      o->calls.push_back({std::move(*path), type, output, multiply_adds});
  }
}

}  // namespace spruce::nn::internal
