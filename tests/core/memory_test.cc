// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "spruce/core/ops/create.h"

namespace spruce {
namespace memory_test {

// The thread's own cache goes to the shared one when the thread ends; an Array that lives longer
// than that cache, as thread_local ones that were made before it do, goes to the shared one too.
TEST(Memory, BlocksOfAThreadsOwnArraysAreKeptWhenItEnds) {
  constexpr int64_t kBytes = 1 << 15, kThreads = 5;
  memory::clear_cache();
  const int64_t live = memory::live_bytes(), cached = memory::cached_bytes();
  for (int64_t i = 0; i < kThreads; ++i) {
    std::thread([] {
      thread_local std::optional<Array> kept;  // is destroyed after the cache
      kept = zeros({1 << 13});
      { const Array released = zeros({1 << 13}); }  // makes the cache
    }).join();
    EXPECT_EQ(memory::live_bytes(), live);
    EXPECT_GE(memory::cached_bytes(), cached + 2 * kBytes) << "after thread " << i;
    EXPECT_LT(memory::cached_bytes(), cached + 3 * kBytes) << "after thread " << i;
  }
}

}  // namespace memory_test
}  // namespace spruce
