// SPDX-License-Identifier: Apache-2.0
// Operations that have no steps on the device: they run on the host, on copies.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/device.h"
#include "spruce/core/primitive.h"

namespace spruce::cuda {

/// Copies of an operation's inputs on the host, and memory for its outputs.
class HostCopies {
 public:
  HostCopies(Device& device, const KernelArgs& args);
  const KernelArgs args() const { return {in_, out_, params_}; }
  /// Copies the outputs to the device.
  void give_back();

 private:
  Device& device_;
  const Params& params_;
  std::span<const View> to_;
  std::vector<std::unique_ptr<char[]>> memory_;
  std::vector<Aval> avals_;
  std::vector<View> in_, out_;
};

/// Runs the primitive's kernel of the CPU. Throws DeviceError where it has none.
void run_cpu_kernel(const Primitive& primitive, const KernelArgs& args);

}  // namespace spruce::cuda
