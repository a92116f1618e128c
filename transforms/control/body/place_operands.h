// SPDX-License-Identifier: Apache-2.0
// Loops and branches on a device that is not the CPU: nothing in them is a number of the host that
// an axis of steps or examples could be added to.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// The device of the operands of a loop or branch: the CPU where they are on several, the default
/// device where all are numbers of the host, since what a loop stacks is made there.
uint8_t device_of_operands(std::span<const Array> in);
/// The operands with numbers of the host taken to the device.
std::vector<Array> placed_operands(std::span<const Array> in, uint8_t device);
/// The body with all of its values there; as it is where it has parts on several devices.
GraphPtr placed_body(const GraphPtr& body, uint8_t device);

}  // namespace spruce::internal
