// SPDX-License-Identifier: Apache-2.0
// What is enqueued on a stream of the emulator.
#pragma once

#include <functional>
#include <string>

#include "spruce/cuda/driver/tables.h"
#include "tests/cuda/emulator/memory.h"

namespace spruce::cuda_emulator {

/// A kernel, copy or call of a library; it can run any number of times.
struct Work {
  std::string name;
  std::function<CUresult()> run;
};

/// Runs the work now, or keeps it where the stream is captured.
CUresult enqueue_on(CUstream stream, Work work);
/// For work that touches it.
DeviceMemory& device_memory();

}  // namespace spruce::cuda_emulator
