// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/to_device.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/rules/to_device.h"

namespace spruce {

Array ToDeviceFunction::operator()(const Array& x, Device& device, Loc loc) const {
  const OpScope at("to_device", loc);
  internal::require_defined("to_device", "x", x);
  return rules::to_device(x, device.index());
}

}  // namespace spruce
