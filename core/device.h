// SPDX-License-Identifier: Apache-2.0
// What the core asks of a device. The CPU is one; others register themselves from their own
// library.
#pragma once

#include <cstddef>
#include <string_view>

#include "spruce/core/cxx20.h"

namespace spruce {

struct Primitive;
struct KernelArgs;

/// A place where arrays live and primitives run. Devices live as long as the program.
class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "cuda:0".
  virtual std::string_view name() const = 0;
  /// Memory of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc or DeviceError.
  virtual void* allocate(size_t bytes) = 0;
  /// Gives back what allocate(bytes) returned, with the same `bytes`.
  virtual void deallocate(void* data, size_t bytes) noexcept = 0;
  /// Copies `bytes` bytes to memory of the device. The host memory may go away afterwards.
  virtual void copy_from_host(void* device_data, const void* host_data, size_t bytes) = 0;
  /// Copies `bytes` bytes from memory of the device, which can be read on the host afterwards.
  virtual void copy_to_host(void* host_data, const void* device_data, size_t bytes) = 0;
  /// Runs the primitive's kernel. Throws DeviceError where the device has none.
  virtual void run(const Primitive& primitive, const KernelArgs& args) = 0;
};

/// The device that every program has.
Device& cpu_device();

}  // namespace spruce
