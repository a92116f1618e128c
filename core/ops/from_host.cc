// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/default_device.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/shape.h"

namespace spruce::internal {

Array from_host(Dtype from, const void* data, int64_t count, const Shape& shape, Dtype to,
                Loc loc) {
  const LocScope at(loc);
  check_shape("array", shape, std::max(size_of(from), size_of(to)));
  if (shape.numel() != count) {
    throw ShapeError("array: " + std::to_string(count) + " values do not fill shape " +
                     to_string(shape) + ", which has " + std::to_string(shape.numel()) +
                     " elements");
  }
  // Numbers stay on the host: they go along with arrays of any device.
  const uint8_t device = shape.rank() > 0 ? DefaultDevice::index() : uint8_t{0};
  const Array a = make_array(Aval{from, false, shape, device}, data);
  if (from == to) return a;
  const InterpreterScope now(nullptr);  // it is a constant, also where a function is traced
  return rules::convert(a, to);
}

}  // namespace spruce::internal
