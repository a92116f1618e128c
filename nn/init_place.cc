// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/init_place.h"

#include "spruce/core/tree/to_device.h"

namespace spruce::nn::internal {

InitPlace::InitPlace(Device* device, const Key& key) : key_(key) {
  if (device == nullptr) return;
  if (key.data().defined()) key_ = to_device(key, *device);
  here_.emplace(*device);
}

}  // namespace spruce::nn::internal
