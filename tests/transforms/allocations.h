// SPDX-License-Identifier: Apache-2.0
// What a piece of code allocates on this thread: every operator new of the test program counts.
#pragma once

#include <cstdint>

#include "spruce/core/memory.h"
#include "spruce/core/parallel.h"

namespace spruce {

/// Calls of operator new on this thread until now.
int64_t heap_allocations();

/// While it lives there is one thread, and all that a call allocates is allocated here.
class OneThread {
 public:
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_ = threads();
};

struct Allocated {
  int64_t heap;    ///< calls of operator new
  int64_t arrays;  ///< blocks of array memory: two for each result, its elements and its handle
};

/// What f() allocates. What it gives lives until all is counted.
template <class F>
Allocated allocated_by(const F& f) {
  const int64_t heap = heap_allocations(), arrays = memory::allocation_count();
  [[maybe_unused]] const auto result = f();
  return {heap_allocations() - heap, memory::allocation_count() - arrays};
}

}  // namespace spruce
