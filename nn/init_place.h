// SPDX-License-Identifier: Apache-2.0
// Where a layer's parameters are made. Of the library.
#pragma once

#include <optional>

#include "spruce/core/default_device.h"
#include "spruce/core/random/random.h"

namespace spruce::nn::internal {

/// While it lives, an init makes its arrays on `device`, if there is one, and draws from a key that
/// is there.
class InitPlace {
 public:
  explicit InitPlace(Device* device, const Key& key = Key());
  /// The key that was given, on the device.
  const Key& key() const { return key_; }

 private:
  std::optional<DefaultDevice> here_;
  Key key_;
};

}  // namespace spruce::nn::internal
