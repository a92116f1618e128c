// SPDX-License-Identifier: Apache-2.0
// Memory that arrays share.
#pragma once

#include <cstddef>

#include "spruce/core/device.h"
#include "spruce/core/ref.h"

namespace spruce::internal {

/// A block of device memory, alive as long as an array refers to it. On the CPU it follows its own
/// header.
class alignas(64) Buffer final : public RefCounted {
 public:
  /// Memory of `bytes` bytes, not initialised.
  static Ref<Buffer> allocate(size_t bytes, Device& device);
  static void destroy(const Buffer* buffer);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device& device() const { return *device_; }

 private:
  Buffer() = default;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Device* device_ = nullptr;
};

}  // namespace spruce::internal
