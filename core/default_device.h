// SPDX-License-Identifier: Apache-2.0
// Where arrays are made that follow no other array.
#pragma once

#include <span>

#include "spruce/core/array.h"

namespace spruce {

/// While it lives, and on this thread, what is made from no array (creation functions, keys,
/// initial parameters, arrays from C++ lists) is made on `device`; outside of any, on the CPU. What
/// is made from arrays is on their device whatever this says. Numbers, arrays of rank 0 that are
/// made from C++ numbers, stay on the host: they go along with arrays of any device.
class DefaultDevice {
 public:
  explicit DefaultDevice(Device& device) : DefaultDevice(device.index()) {}
  /// The device with that number.
  explicit DefaultDevice(uint8_t index) : saved_(current_) { current_ = index; }
  ~DefaultDevice() { current_ = saved_; }
  DefaultDevice(const DefaultDevice&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  DefaultDevice& operator=(const DefaultDevice&) = delete;

  /// The number of the device where arrays are made now.
  static uint8_t index() { return current_; }

 private:
  static inline thread_local constinit uint8_t current_ = 0;
  uint8_t saved_;
};

namespace internal {

/// True if an array of that type says where an operation on it runs: all but host numbers, arrays
/// of rank 0 on the CPU, which go along with others.
inline bool is_placed(const Aval& aval) { return aval.device != 0 || aval.shape.rank() > 0; }

/// The device of the first of them that says where an operation runs; the default device where none
/// does. Undefined arrays are passed over.
uint8_t device_among(std::span<const Array> arrays);
uint8_t device_among(std::span<const Aval> types);

/// What a function makes besides its arguments, while it lives, is made where they are.
class SameDevice {
 public:
  template <class... T>
  explicit SameDevice(const Array& first, const T&... others)
      : scope_(index_of(first, others...)) {}
  explicit SameDevice(std::span<const Array> arrays) : scope_(device_among(arrays)) {}

 private:
  static uint8_t index_of() { return DefaultDevice::index(); }
  template <class... T>
  static uint8_t index_of(const Array& x, const T&... others) {
    if (x.defined() && is_placed(x.aval())) return x.aval().device;
    return index_of(others...);
  }

  DefaultDevice scope_;
};

}  // namespace internal
}  // namespace spruce
