// SPDX-License-Identifier: Apache-2.0
// Memory of one device. All work of the device is on one stream, so that what an array gives back
// is at once free for the next. With SPRUCE_CUDA_POOL=off each array is a block of the driver with
// its very size, so that tools which check memory (compute-sanitizer) see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "spruce/cuda/cuda.h"
#include "spruce/cuda/driver/context.h"

namespace spruce::cuda {

class Pool {
 public:
  explicit Pool(Context& context);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// At least `bytes` bytes, aligned to 256. Throws DeviceError that says who holds what.
  void* allocate(size_t bytes);
  /// Gives back what allocate(bytes) returned, with the same `bytes`.
  void release(void* block, size_t bytes) noexcept;
  MemoryUse use() const;
  /// The pool keeps at most so many bytes for later arrays.
  void set_cache_limit(int64_t bytes);
  /// Gives what the pool keeps back to the driver.
  void clear_cache();

 private:
  CUresult from_driver(size_t bytes, CUdeviceptr* block);
  void to_driver(CUdeviceptr block) noexcept;
  size_t size_for(size_t bytes) const;
  void clear_cache_locked();

  Context& context_;
  const bool exact_;      // SPRUCE_CUDA_POOL=off
  bool ordered_ = false;  // the driver has a pool that follows the stream
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::vector<CUdeviceptr>> kept_;  // by size
  MemoryUse use_;
  int64_t limit_ = INT64_MAX;
};

}  // namespace spruce::cuda
