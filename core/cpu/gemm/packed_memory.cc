// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "spruce/core/cpu/gemm/gemm_parts.h"

namespace spruce::cpu {
namespace {

// Nothing destroys it: products work in destructors of a thread's other objects too.
struct Block {
  void* memory = nullptr;
  size_t bytes = 0;

  void free() {
    std::free(memory);
    memory = nullptr;
    bytes = 0;
  }
};
thread_local constinit Block block;

struct FreeAtTheEnd {
  ~FreeAtTheEnd() { block.free(); }
};

}  // namespace

void* packed_memory(size_t bytes) {
  constexpr size_t kHuge = size_t{1} << 21;
  if (bytes <= block.bytes) return block.memory;
  thread_local const FreeAtTheEnd guard;
  (void)guard;
  block.free();
  const size_t unit = bytes > kHuge / 4 ? kHuge : 4096;
  bytes = (bytes + unit - 1) / unit * unit;
  block.memory = std::aligned_alloc(unit, bytes);
  if (block.memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (unit == kHuge) madvise(block.memory, bytes, MADV_HUGEPAGE);
#endif
  block.bytes = bytes;
  return block.memory;
}

}  // namespace spruce::cpu
