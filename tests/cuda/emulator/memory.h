// SPDX-License-Identifier: Apache-2.0
// Device memory of the emulator: pages of the host without permission, but while a copy or a kernel
// that has them as an argument runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spruce::cuda_emulator {

/// Not safe to call from several threads: the driver's functions hold a lock.
class DeviceMemory {
 public:
  /// Filled with NaN, aligned to 256; pages without permission stand on both sides. Null where the
  /// limit does not allow it.
  void* allocate(size_t bytes);
  /// Returns "" or what is wrong: not a block, or written outside of it.
  std::string release(void* p);
  /// Whether `bytes` bytes from p are within one block.
  bool contains(const void* p, size_t bytes) const;
  size_t used() const { return used_; }
  size_t limit() const { return limit_; }
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t block_count() const { return blocks_.size(); }

  /// Opens the blocks that hold the addresses, until it goes.
  class Opened {
   public:
    Opened(DeviceMemory& memory, const std::vector<const void*>& addresses);
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    DeviceMemory& memory_;
    std::vector<const void*> blocks_;
  };

 private:
  struct Block {
    char* pages;
    size_t page_bytes;
    size_t bytes;
    int open = 0;
  };
  std::map<const char*, Block>::iterator find(const void* p);
  std::map<const char*, Block>::const_iterator find(const void* p) const {
    return const_cast<DeviceMemory*>(this)->find(p);
  }
  void change(Block& block, int by);

  std::map<const char*, Block> blocks_;  // by their beginning
  size_t used_ = 0;
  size_t limit_ = size_t{8} << 30;
};

}  // namespace spruce::cuda_emulator
