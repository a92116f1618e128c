// SPDX-License-Identifier: Apache-2.0
// Uploads that do not wait: what is copied to the device stands in memory of the host that the
// driver reads by itself.
#pragma once

#include <cstddef>
#include <mutex>

#include "spruce/cuda/driver/context.h"

namespace spruce::cuda {

class Staging {
 public:
  explicit Staging(Context& context) : context_(context) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Copies to the device; `from` may go away afterwards. Small ones are enqueued, large ones are
  /// waited for. The thread has entered the context.
  void upload(CUdeviceptr to, const void* from, size_t bytes);

 private:
  static constexpr size_t kBytes = size_t{4} << 20;
  static constexpr size_t kMost = kBytes / 8;  // of an upload that goes through it

  Context& context_;
  std::mutex mutex_;
  char* memory_ = nullptr;  // of the driver, for the life of the program
  size_t used_ = 0;         // by uploads that may not have run yet
};

}  // namespace spruce::cuda
