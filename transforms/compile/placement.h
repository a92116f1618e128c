// SPDX-License-Identifier: Apache-2.0
// On which device a graph runs.
#pragma once

#include <optional>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// The one device of those values of the graph, and of graphs in its parameters, that have a place
/// (see is_placed); nothing where there are several.
struct GraphDevice {
  bool any = false;      ///< whether a value has a place
  bool several = false;  ///< whether two have different ones
  uint8_t index = 0;     ///< the device, where there is one

  void add(const Aval& aval);
};
GraphDevice device_of(const Graph& graph);

/// The same function for whichever device it is compiled for: no type names a device, nothing moves
/// between devices, and constants are where the host can read them.
Graph without_devices(const Graph& graph);

/// A graph whose types name no device, with types that name this one.
Graph on_device(const Graph& graph, uint8_t device);

}  // namespace spruce::internal
