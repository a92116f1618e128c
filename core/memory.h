// SPDX-License-Identifier: Apache-2.0
// The pool that array memory comes from, and what it counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spruce/core/cxx20.h"

namespace spruce::memory {

/// Bytes of array memory in use now, over all threads and devices.
int64_t live_bytes();
/// The largest live_bytes() since the start or since reset_peak().
int64_t peak_bytes();
/// Sets the peak to what is live now.
void reset_peak();
/// Bytes that the pool keeps for reuse; they are not live.
int64_t cached_bytes();
/// The pool keeps at most this many bytes for reuse (default 1 GiB).
void set_cache_limit(int64_t bytes);
/// Gives what the pool keeps, outside of the small caches of other threads, back to the system.
void clear_cache();
/// How many times array memory was asked for, over all threads: what tests of "no allocation"
/// count.
int64_t allocation_count();

}  // namespace spruce::memory

namespace spruce::internal {

/// A block of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc.
void* pool_allocate(size_t bytes);
/// Gives back what pool_allocate(bytes) returned; the same `bytes`.
void pool_release(void* block, size_t bytes) noexcept;
/// Counts `bytes` (negative to take away) as live.
void count_live(int64_t bytes) noexcept;

}  // namespace spruce::internal
