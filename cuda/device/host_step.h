// SPDX-License-Identifier: Apache-2.0
// Operations that have no kernels on the device.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cuda {

class CudaDevice;

/// Runs a primitive that has no kernels on the device: what is made of other operations (loops,
/// branches, composites) by these, on the device; all else by the kernel of the CPU, on copies.
/// Throws DeviceError where it has none of both.
void run_without_kernels(const Primitive& primitive, const KernelArgs& args, CudaDevice& device);

}  // namespace spruce::cuda
