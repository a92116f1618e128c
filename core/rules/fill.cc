// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/fill.h"

#include "spruce/core/interpreter.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/to_device.h"

namespace spruce::rules {

Array filled(const char* op, const Shape& shape, const Array& value) {
  check_shape(op, shape, size_of(value.dtype()));
  const uint8_t device =
      spruce::internal::is_placed(value.aval()) ? value.aval().device : DefaultDevice::index();
  if (Interpreter::current() != nullptr || value.is_tracer() || value.aval().device != 0)
    return to_device(broadcast_in_dim(value, shape, {}), device);
  // Nothing is traced: the elements are written at once.
  const Array out = spruce::internal::make_array(Aval{value.dtype(), value.weak(), shape, device});
  out.device().fill(spruce::internal::mutable_data(out), value.impl()->buffer->data(),
                    shape.numel(), size_of(value.dtype()));
  return out;
}

}  // namespace spruce::rules
