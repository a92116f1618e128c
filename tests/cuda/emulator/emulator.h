// SPDX-License-Identifier: Apache-2.0
// CUDA without a GPU: tables of functions that take the place of the driver, of NVRTC, of cuBLASLt
// and of NVTX. Kernels are compiled from their text by the host's compiler and run on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spruce::cuda_emulator {

/// Puts the tables in place. Again is allowed.
void install();

/// Of the orders in which blocks and threads run.
void set_seed(uint64_t seed);
/// Bytes of memory that the device has from now on.
void set_memory(size_t bytes);
/// Bytes of it that are in use, over all blocks.
size_t memory_in_use();
/// What cuDriverGetVersion and cuDeviceGetCount answer.
void set_driver_version(int version);
void set_device_count(int count);
/// The next kernel fails with that CUresult: by default as by an access to memory that is not
/// there.
void fail_next_kernel(int result = 700);
/// All calls fail with that CUresult from now on: by default as after the context was destroyed.
void lose_context(int result = 709);
/// Whether cuBLASLt has an algorithm for anything; true from the start.
void set_has_algorithms(bool value);
/// Forgets the error that a failed kernel has left on the device.
void forget_error();
/// Work runs when somebody waits for its stream, as late as a device may, instead of at once. With
/// SPRUCE_EMULATOR_LAZY=1 in the environment it does so from the start. Returns what was set.
bool set_lazy_streams(bool lazy);
/// The texts of the NVTX ranges that were opened since the last call; "" stands for one that was
/// closed.
std::vector<std::string> take_ranges();

/// The path of a shared library that dlopen() takes for the driver and that has no functions.
std::string driver_without_functions();

/// What has run since the start.
struct Counts {
  int64_t kernels = 0;  ///< of graphs too
  int64_t graphs = 0;
  int64_t copies = 0;    ///< between host and device
  int64_t compiled = 0;  ///< texts that the host's compiler was called for
  int64_t waits = 0;     ///< calls that wait for a stream
};
Counts counts();

}  // namespace spruce::cuda_emulator
