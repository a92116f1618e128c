// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t allocations = 0;

void* counted(size_t bytes) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* counted_or_throw(size_t bytes) {
  void* p = counted(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(size_t bytes) { return counted_or_throw(bytes); }
void* operator new[](size_t bytes) { return counted_or_throw(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace spruce {

int64_t heap_allocations() { return allocations; }

}  // namespace spruce
