// SPDX-License-Identifier: Apache-2.0
// The kernels of one equation, compiled and ready to be enqueued.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spruce/cuda/device/context.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The steps of an equation for a device. Immutable; several threads may enqueue it.
class Steps {
 public:
  /// Compiles what is not compiled yet. Throws DeviceError, naming `operation`, where a kernel does
  /// not compile or its launch does not fit its parameters.
  Steps(Kernels kernels, Context& context, const char* operation);

  int64_t workspace_bytes() const { return kernels_.workspace_bytes; }
  /// Enqueues all steps on the stream of the context, which the thread has entered. `in` are
  /// addresses on the device, or on the host for Argument::host_input.
  void enqueue(std::span<void* const> in, std::span<void* const> out, void* workspace) const;

 private:
  void launch(const Launch& launch, const LoadedKernel& kernel, std::span<void* const> in,
              std::span<void* const> out, void* workspace) const;

  Kernels kernels_;
  Context& context_;
  const char* operation_;
  std::vector<const LoadedKernel*> loaded_;  // of the launches, in order
};

/// The steps of a primitive: those of its twin, or what the code generator writes. Sets `known` to
/// false where there are none.
Kernels kernels_of(const Primitive& primitive, const PrepareArgs& args, bool& known);

}  // namespace spruce::cuda
