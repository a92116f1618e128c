// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/memory/staging.h"

#include <cstring>
#include <string>

#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {

void Staging::upload(CUdeviceptr to, const void* from, size_t bytes) {
  const std::string what =
      "copying " + std::to_string(bytes) + " bytes to cuda:" + std::to_string(context_.ordinal());
  const DriverTable& d = driver();
  if (bytes > kMost) {
    check(d.cuMemcpyHtoDAsync(to, from, bytes, context_.stream()), what);
    context_.wait(what);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) {
    void* memory = nullptr;
    check(d.cuMemAllocHost(&memory, kBytes), "cuMemAllocHost");
    memory_ = static_cast<char*>(memory);
  }
  const size_t rounded = (bytes + 63) / 64 * 64;
  if (used_ + rounded > kBytes) {
    context_.wait(what);
    used_ = 0;
  }
  char* place = memory_ + used_;
  std::memcpy(place, from, bytes);
  check(d.cuMemcpyHtoDAsync(to, place, bytes, context_.stream()), what);
  used_ += rounded;
}

}  // namespace spruce::cuda
