// SPDX-License-Identifier: Apache-2.0
// Memory that arrays share.
#pragma once

#include <cstddef>
#include <memory>

#include "spruce/core/device.h"
#include "spruce/core/ref.h"

namespace spruce::internal {

/// A block of device memory, alive as long as an array refers to it. On the CPU it follows its own
/// header, unless something else keeps it.
class alignas(64) Buffer final : public RefCounted {
 public:
  /// Memory of `bytes` bytes, not initialised.
  static Ref<Buffer> allocate(size_t bytes, Device& device);
  /// Memory of any device that the program has already and `owner` keeps, which is let go with the
  /// buffer. It is never written to, and memory::live_bytes() does not count it.
  static Ref<Buffer> adopt(const void* data, size_t bytes, std::shared_ptr<const void> owner);
  static void destroy(const Buffer* buffer);

  /// True if whoever holds the only reference to this object may write to the memory.
  bool may_be_reused() const { return !adopted_ && unique(); }
  /// True if adopt() made it.
  bool is_adopted() const { return adopted_; }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Buffer() = default;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Device* device_ = nullptr;
  bool adopted_ = false;
  std::shared_ptr<const void> owner_;
};

}  // namespace spruce::internal
