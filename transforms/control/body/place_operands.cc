// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/place_operands.h"

#include "spruce/core/default_device.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/transforms/compile/placement.h"

namespace spruce::internal {

uint8_t device_of_operands(std::span<const Array> in) {
  GraphDevice found;
  for (const Array& a : in) found.add(a.aval());
  if (found.several) return 0;
  return found.any ? found.index : DefaultDevice::index();
}

std::vector<Array> placed_operands(std::span<const Array> in, uint8_t device) {
  std::vector<Array> out;
  for (const Array& a : in) out.push_back(rules::to_device(a, device));
  return out;
}

GraphPtr placed_body(const GraphPtr& body, uint8_t device) {
  const GraphDevice now = device_of(*body);
  if (now.several || (now.any && now.index != device && now.index != 0)) return body;
  return std::make_shared<const Graph>(on_device(*body, device));
}

}  // namespace spruce::internal
