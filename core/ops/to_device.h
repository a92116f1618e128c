// SPDX-License-Identifier: Apache-2.0
// Moving arrays between devices.
#pragma once

#include <type_traits>

#include "spruce/core/array.h"

namespace spruce {

/// The same values on another device; what is there already is shared.
inline constexpr struct ToDeviceFunction {
  /// Of a traced value it is an operation: a function may have parts on several devices. Its
  /// derivative moves tangents the same way and cotangents back.
  Array operator()(const Array& x, Device& device, Loc loc = Loc::current()) const;
  /// The tree with all of its arrays, keys and buffers on `device`. Undefined arrays stay
  /// undefined: to_device(model, gpu). Defined in core/tree/to_device.h.
  template <class T>
  requires(!std::is_convertible_v<const T&, Array>) T operator()(const T& tree, Device& device,
                                                                 Loc loc = Loc::current()) const;
} to_device{};

}  // namespace spruce
