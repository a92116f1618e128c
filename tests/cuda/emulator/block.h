// SPDX-License-Identifier: Apache-2.0
// Runs a kernel on the host: one block after the other, in an order drawn from a seed. Where a
// kernel has barriers, the threads of a block are fibers that switch there, again in an order drawn
// from the seed, so that a missing barrier shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace spruce::cuda_emulator {

struct Size3 {
  unsigned x = 1, y = 1, z = 1;
};

/// A kernel that the host's compiler has made from its text.
struct HostKernel {
  void (*call)(void** arguments) = nullptr;  ///< one thread
  bool has_barriers = false;
  void* shared = nullptr;  ///< static shared memory, filled with NaN before each block
  size_t shared_bytes = 0;
};

/// Runs all blocks. Returns "" or why the kernel failed: an access where it may not go, a barrier
/// that not all threads reach.
std::string run_grid(const HostKernel& kernel, Size3 grid, Size3 block, size_t dynamic_shared,
                     void** arguments, uint64_t seed);

/// The most dynamic shared memory that a launch may ask for.
inline constexpr size_t kMostShared = 227 * 1024;

}  // namespace spruce::cuda_emulator
