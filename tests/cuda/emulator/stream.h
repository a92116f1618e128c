// SPDX-License-Identifier: Apache-2.0
// What is enqueued on a stream of the emulator, and when it runs.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "spruce/cuda/driver/tables.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/emulator/memory.h"

namespace spruce::cuda_emulator {

/// A kernel, copy or call of a library; it can run any number of times.
struct Work {
  std::string name;
  std::function<CUresult()> run;
};

/// Runs the work, or keeps it: for a graph where the stream is captured, until somebody waits for
/// the stream where streams are lazy.
CUresult enqueue_on(CUstream stream, Work work);
/// Runs all that lazy streams have kept.
void run_streams();
/// Streams are lazy from now on, or run at once. Returns what they did before.
bool set_lazy(bool lazy);
/// The functions of streams, events and graphs, and what they have counted.
void add_streams(cuda::DriverTable& table);
void add_counts(Counts& counts);

/// The lock that all functions of the driver hold.
std::recursive_mutex& driver_mutex();
using Lock = std::lock_guard<std::recursive_mutex>;
/// Why the device takes no more work; CUDA_SUCCESS where it does.
CUresult& lost();
/// For work that touches it.
DeviceMemory& device_memory();

}  // namespace spruce::cuda_emulator
