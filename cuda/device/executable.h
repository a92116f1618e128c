// SPDX-License-Identifier: Apache-2.0
// A compiled function on a GPU: the kernels of all its equations over one block of memory, replayed
// as a CUDA graph.
#pragma once

#include <memory>

#include "spruce/core/device.h"
#include "spruce/core/graph/graph.h"

namespace spruce::cuda {

class CudaDevice;

/// As Device::compile().
std::unique_ptr<const Executable> make_executable(const Graph& graph, CudaDevice& device);

}  // namespace spruce::cuda
