// SPDX-License-Identifier: Apache-2.0
// Device memory of the emulator: each block is mapped twice. The program has addresses without
// permission; copies and kernels are handed those of the same bytes elsewhere.
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
  /// Filled with NaN, aligned to 256; at both addresses pages without permission stand on both
  /// sides. Null where the limit does not allow it.
  void* allocate(size_t bytes);
  /// Returns "" or what is wrong: not a block, or written outside of it.
  std::string release(void* p);
  /// Whether `bytes` bytes from p are within one block.
  bool contains(const void* p, size_t bytes) const;
  /// Where a kernel reads and writes what is at `p`; `p` itself where that is no block's.
  void* open(const void* p) const;
  size_t used() const { return used_; }
  size_t limit() const { return limit_; }
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t block_count() const { return blocks_.size(); }

 private:
  struct Block {
    char *locked, *pages;  // of the program, and of kernels
    size_t page_bytes;
    size_t bytes;
  };
  using Blocks = std::map<const char*, Block>;  // by the beginning that the program has
  Blocks::const_iterator find(const void* p) const;
  // Pages for kernels: new ones, or those of a block of that size that was released.
  char* take_pages(size_t bytes);
  void keep_pages(char* pages, size_t bytes);

  Blocks blocks_;
  std::map<size_t, std::vector<char*>> kept_;  // by size
  size_t kept_bytes_ = 0;
  size_t used_ = 0;
  size_t limit_ = size_t{8} << 30;
};

}  // namespace spruce::cuda_emulator
