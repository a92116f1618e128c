// SPDX-License-Identifier: Apache-2.0
// The kernels of one equation, compiled and ready to be enqueued.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spruce/cuda/driver/context.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The steps of an equation for a device. Immutable; several threads may enqueue it.
class Steps {
 public:
  /// Compiles what is not compiled yet. Throws DeviceError, naming `operation`, where a kernel does
  /// not compile or its launch does not fit its parameters.
  Steps(Kernels kernels, Context& context, const char* operation);

  /// The memory of a run: addresses on the device; for numbers of the host, `host_in` too.
  struct Memory {
    std::span<void* const> in;
    std::span<const void* const> host_in;  ///< null for inputs that are on the device
    std::span<void* const> out;
    void* workspace = nullptr;
  };
  int64_t workspace_bytes() const { return kernels_.workspace_bytes; }
  /// True where input i is read from memory of the device, which a number of the host has to be
  /// copied to.
  bool reads_memory(size_t i) const;
  /// Enqueues all steps. The thread has entered the context.
  void enqueue(CUstream stream, const Memory& memory) const;

 private:
  void launch(CUstream stream, const Launch& launch, const LoadedKernel& kernel,
              const Memory& memory) const;

  Kernels kernels_;
  const char* operation_;
  std::vector<const LoadedKernel*> loaded_;  // of the launches, in order
};

/// The steps of a primitive: those of its twin, or what the code generator writes. Sets `known` to
/// false where there are none.
Kernels kernels_of(const Primitive& primitive, const PrepareArgs& args, bool& known);

}  // namespace spruce::cuda
