// SPDX-License-Identifier: Apache-2.0
// What the core asks of a device. The CPU is one; others register themselves from their own
// library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "spruce/core/cxx20.h"

namespace spruce {

class Graph;
struct KernelArgs;
struct Primitive;
struct View;

/// A graph made ready to run on one device. Several threads may run it at once.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs on memory of the device: one view for each input of the graph and one for each output,
  /// with their types. Outputs lie apart from each other and from the inputs, but output k may lie
  /// where input donor(k) does. `began` becomes true before the first output is written: an
  /// exception that leaves it false has changed nothing.
  virtual void run(std::span<const View> in, std::span<const View> out, bool& began) const = 0;
  /// The input whose memory output k, which has as many bytes, takes over where nobody else holds
  /// it; -1, as here, for none. No two outputs have the same one.
  virtual int64_t donor(size_t k) const;
};

/// A place where arrays live and primitives run. It registers itself when it is made, and lives as
/// long as arrays that are on it: best as long as the program.
class Device {
 public:
  virtual ~Device();
  Device(const Device&) = delete;
  /// Neither copied nor assigned: arrays know it by its number.
  Device& operator=(const Device&) = delete;

  /// "cpu", "cuda:0". Graphs write it behind the types of their values, `f32[2]@cuda:0`.
  virtual std::string_view name() const = 0;
  /// Memory of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc or DeviceError.
  virtual void* allocate(size_t bytes) = 0;
  /// Gives back what allocate(bytes) returned, with the same `bytes`.
  virtual void deallocate(void* data, size_t bytes) noexcept = 0;
  /// Copies `bytes` bytes to memory of the device. The host memory may go away afterwards.
  virtual void copy_from_host(void* device_data, const void* host_data, size_t bytes) = 0;
  /// Copies `bytes` bytes from memory of the device, which can be read on the host afterwards.
  virtual void copy_to_host(void* host_data, const void* device_data, size_t bytes) = 0;
  /// Writes one element, of which `element` is a copy on the host, `n` times.
  virtual void fill(void* device_data, const void* element, int64_t n, int64_t element_bytes);
  /// Runs the primitive's kernel on memory of this device. Inputs of rank 0 whose type says the CPU
  /// (`aval->device == 0`) are in host memory. Throws DeviceError where the device has no kernel.
  virtual void run(const Primitive& primitive, const KernelArgs& args) = 0;
  /// Makes a graph ready to run here. Its types name no device, and the host can read its
  /// constants. Null, as here, for a device that runs graphs one operation after the other.
  virtual std::unique_ptr<const Executable> compile(const Graph& graph);

  /// The number by which types name it: 0 for the CPU, then in the order of registration.
  uint8_t index() const { return index_; }

 protected:
  /// Registers the device. Throws DeviceError past 255 of them.
  Device();
  /// Of the CPU, which is number 0.
  explicit Device(std::nullptr_t);

 private:
  uint8_t index_;
};

/// The device that every program has.
Device& cpu_device();
/// The device with that number. Throws DeviceError where there is none (any more).
Device& device_at(uint8_t index);
/// The device of that name, or null.
Device* find_device(std::string_view name);

}  // namespace spruce
