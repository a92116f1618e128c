// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/memory/pool.h"

#include <algorithm>
#include <bit>
#include <string>

#include "spruce/core/environment.h"
#include "spruce/core/error.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

constexpr size_t kLeast = 512;

// Multiples of 512 up to 4 KiB, then eight steps to each power of two: few sizes, so that what is
// given back fits the next time, and at most an eighth too large.
size_t class_of(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kLeast - 1) / kLeast * kLeast;
  if (rounded <= 8 * kLeast) return rounded;
  const size_t step = std::bit_floor(rounded - 1) / 8;
  return (rounded + step - 1) / step * step;
}

}  // namespace

Pool::Pool(Context& context)
    : context_(context), exact_(internal::environment("SPRUCE_CUDA_POOL", {"on", "off"}) == "off") {
  if (exact_) limit_ = 0;
  int supported = 0;
  driver().cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                context.device());
  ordered_ = supported != 0;
  if (!ordered_) return;
  // The driver keeps what is freed instead of giving it to the system at each wait.
  CUmemoryPool pool = nullptr;
  check(driver().cuDeviceGetDefaultMemPool(&pool, context.device()), "cuDeviceGetDefaultMemPool");
  uint64_t all = UINT64_MAX;
  check(driver().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all),
        "cuMemPoolSetAttribute");
}

CUresult Pool::from_driver(size_t bytes, CUdeviceptr* block) {
  return ordered_ ? driver().cuMemAllocAsync(block, bytes, context_.stream())
                  : driver().cuMemAlloc(block, bytes);
}

void Pool::to_driver(CUdeviceptr block) noexcept {
  if (ordered_)
    driver().cuMemFreeAsync(block, context_.stream());
  else
    driver().cuMemFree(block);
}

size_t Pool::size_for(size_t bytes) const {
  return exact_ ? std::max<size_t>(bytes, 1) : class_of(bytes);
}

void* Pool::allocate(size_t bytes) {
  if (bytes > (size_t{1} << 52)) {
    throw DeviceError("cuda: there is no memory for " + std::to_string(bytes) +
                      " bytes: no device has as much");
  }
  const size_t size = size_for(bytes);
  context_.enter();
  const std::lock_guard lock(mutex_);
  CUdeviceptr block = 0;
  std::vector<CUdeviceptr>& same = kept_[size];
  if (!same.empty()) {
    block = same.back();
    same.pop_back();
    use_.cached -= static_cast<int64_t>(size);
  } else {
    CUresult result = from_driver(size, &block);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      clear_cache_locked();
      result = from_driver(size, &block);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      size_t free = 0, total = 0;
      driver().cuMemGetInfo(&free, &total);
      const auto others = static_cast<int64_t>(total - free) - use_.in_use;
      throw DeviceError(
          "cuda: there is no memory on the device cuda:" + std::to_string(context_.ordinal()) +
          " for " + std::to_string(bytes) + " bytes: of " + std::to_string(total) +
          ", arrays and compiled functions of this program hold " + std::to_string(use_.in_use) +
          " in " + std::to_string(use_.blocks) + " pieces, the driver and other programs hold " +
          std::to_string(std::max<int64_t>(0, others)) + ", " + std::to_string(free) +
          " are free; let go of arrays, move them into the functions that replace them, or take "
          "smaller batches");
    }
    check(result, "allocating " + std::to_string(bytes) + " bytes");
  }
  ++use_.blocks;
  use_.in_use += static_cast<int64_t>(size);
  use_.peak = std::max(use_.peak, use_.in_use);
  return reinterpret_cast<void*>(block);
}

void Pool::release(void* data, size_t bytes) noexcept {
  const size_t size = size_for(bytes);
  const CUdeviceptr block = device_address(data);
  const std::lock_guard lock(mutex_);
  --use_.blocks;
  use_.in_use -= static_cast<int64_t>(size);
  if (use_.cached + static_cast<int64_t>(size) <= limit_) {
    try {
      kept_[size].push_back(block);
      use_.cached += static_cast<int64_t>(size);
      return;
    } catch (const std::bad_alloc&) {  // not even for the list
    }
  }
  try {
    context_.enter();
  } catch (const Error&) {
    return;  // at the end of the program the driver may be gone
  }
  to_driver(block);
}

void Pool::clear_cache_locked() {
  for (auto& [size, blocks] : kept_) {
    for (const CUdeviceptr block : blocks) to_driver(block);
    blocks.clear();
  }
  use_.cached = 0;
  driver().cuStreamSynchronize(context_.stream());
  if (!ordered_) return;
  CUmemoryPool pool = nullptr;
  if (driver().cuDeviceGetDefaultMemPool(&pool, context_.device()) == CUDA_SUCCESS)
    driver().cuMemPoolTrimTo(pool, 0);
}

void Pool::clear_cache() {
  context_.enter();
  const std::lock_guard lock(mutex_);
  clear_cache_locked();
}

void Pool::set_cache_limit(int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    if (use_.cached <= bytes) return;
  }
  clear_cache();
}

MemoryUse Pool::use() const {
  context_.enter();
  size_t free = 0, total = 0;
  check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
  const std::lock_guard lock(mutex_);
  MemoryUse all = use_;
  all.free = static_cast<int64_t>(free);
  all.total = static_cast<int64_t>(total);
  return all;
}

}  // namespace spruce::cuda
