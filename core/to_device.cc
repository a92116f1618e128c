// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/to_device.h"

#include <vector>

namespace spruce {

Array to_device(const Array& x, Device& device, Loc loc) {
  const LocScope at(loc);
  if (x.is_tracer()) {
    throw TracerError(
        "to_device: " + x.impl()->describe() + " of type " + to_string(x.aval()) +
        " has no memory that could be moved; move the arguments before the function is traced");
  }
  if (&x.device() == &device) return x;
  const auto bytes = static_cast<size_t>(x.nbytes());
  std::vector<char> host(bytes);
  x.device().copy_to_host(host.data(), internal::mutable_data(x), bytes);
  const Array out = internal::make_array(x.aval(), device);
  device.copy_from_host(internal::mutable_data(out), host.data(), bytes);
  return out;
}

}  // namespace spruce
