// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel needs for the time of one call.
#pragma once

#include <cstddef>

#include "spruce/core/memory.h"

namespace spruce::cpu {

/// A block from the pool of array memory, aligned to 64, not initialised.
class Scratch {
 public:
  explicit Scratch(size_t bytes)
      : data_(bytes > 0 ? spruce::internal::pool_allocate(bytes) : nullptr), bytes_(bytes) {}
  ~Scratch() {
    if (data_ != nullptr) spruce::internal::pool_release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  size_t bytes_;
};

}  // namespace spruce::cpu
