// SPDX-License-Identifier: Apache-2.0
// Moving values between devices inside of rules and operations.
#pragma once

#include <string>

#include "spruce/core/default_device.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

/// The same elements on another device.
extern const Primitive to_device_p;

/// Where to.
struct ToDeviceParams {
  std::string device;  ///< its name
};

namespace rules {

/// `x` on the device with that number; x itself where it is there.
Array to_device(const Array& x, uint8_t device);
/// `x`, which an operation has made for its own use, on the device of `other`.
Array beside(const Array& x, const Array& other);

}  // namespace rules
}  // namespace spruce
