// SPDX-License-Identifier: Apache-2.0
// Where the temporaries of a compiled graph stand in one block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spruce/core/cxx20.h"

namespace spruce::internal {

/// A block that is in use from step `first` to step `last`, both included.
struct Lifetime {
  int32_t first;
  int32_t last;
  size_t bytes;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  ///< of each lifetime; multiples of 64
  size_t bytes = 0;             ///< of the whole block
};

/// Places the blocks so that those that are in use at one time do not overlap. Takes the better one
/// of two greedy orders, by time and by size (the latter for up to some thousand blocks only, since
/// it takes quadratic time).
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

/// Memory that is there anyway and idle from step `first` to step `last`.
struct IdleInterval {
  int32_t first;
  int32_t last;
  size_t bytes;
};

/// Where a block stands: in idle interval `interval`, or in none (-1).
struct Alias {
  int32_t interval = -1;
  size_t offset = 0;
};

/// Puts blocks into idle memory, for as long as that makes the largest sum of bytes in use
/// elsewhere smaller; the largest of its blocks first. The first `movable` blocks may go there.
/// What has gone is left with no bytes.
std::vector<Alias> alias_idle_memory(std::span<Lifetime> lifetimes, size_t movable,
                                     std::span<const IdleInterval> intervals);

/// The largest sum of bytes in use at one step, each rounded up to 64: no plan is smaller.
size_t least_memory(std::span<const Lifetime> lifetimes);

}  // namespace spruce::internal
