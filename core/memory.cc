// SPDX-License-Identifier: Apache-2.0
// Blocks come in size classes: multiples of 64 up to 1 KiB, then four steps to each power of two.
// Small blocks are kept per thread, large ones in one shared list, so that a training step asks the
// system for memory only once.
#include "spruce/core/memory.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace spruce {
namespace {

constexpr size_t kAlign = 64, kSmall = 1024, kHuge = size_t{1} << 21;
constexpr size_t kThreadBlock = 1 << 16;  // blocks up to this size are kept per thread
constexpr size_t kThreadBytes = 1 << 19;  // per class and thread
constexpr int kClasses = 16 + 4 * 44;

std::atomic<int64_t> live{0}, peak{0}, cached{0}, limit{int64_t{1} << 30}, allocations{0};

struct SizeClass {
  int index;
  size_t bytes;
};

SizeClass class_of(size_t bytes) {
  if (bytes <= kSmall) {
    const size_t n = bytes == 0 ? 1 : (bytes + kAlign - 1) / kAlign;
    return {static_cast<int>(n) - 1, n * kAlign};
  }
  const int log2 = 63 - std::countl_zero(static_cast<uint64_t>(bytes - 1));  // >= 10
  if (log2 > 52) throw std::bad_alloc();
  const size_t base = size_t{1} << log2, step = base / 4, k = (bytes - base + step - 1) / step;
  return {16 + (log2 - 10) * 4 + static_cast<int>(k) - 1, base + k * step};
}

void* system_allocate(size_t bytes) {
  void* p = std::aligned_alloc(bytes >= kHuge ? kHuge : kAlign,
                               bytes >= kHuge ? (bytes + kHuge - 1) / kHuge * kHuge : bytes);
  if (p == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= kHuge) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

// A block that waits holds the next one of its list in its first word.
void push(void** head, void* block) {
  *static_cast<void**>(block) = *head;
  *head = block;
}

void* pop(void** head) {
  void* const block = *head;
  if (block != nullptr) *head = *static_cast<void**>(block);
  return block;
}

struct SharedLists {
  std::mutex mutex;
  void* heads[kClasses] = {};
};

SharedLists& shared() {
  static SharedLists* lists = new SharedLists;  // never destroyed: arrays may die after main
  return *lists;
}

void* take_shared(SizeClass c) {
  if (cached.load(std::memory_order_relaxed) > 0) {
    SharedLists& s = shared();
    const std::lock_guard lock(s.mutex);
    if (void* p = pop(&s.heads[c.index])) {
      cached.fetch_sub(static_cast<int64_t>(c.bytes), std::memory_order_relaxed);
      return p;
    }
  }
  return system_allocate(c.bytes);
}

void give_shared(void* p, SizeClass c) noexcept {
  if (cached.load(std::memory_order_relaxed) + static_cast<int64_t>(c.bytes) <=
      limit.load(std::memory_order_relaxed)) {
    SharedLists& s = shared();
    const std::lock_guard lock(s.mutex);
    push(&s.heads[c.index], p);
    cached.fetch_add(static_cast<int64_t>(c.bytes), std::memory_order_relaxed);
    return;
  }
  std::free(p);
}

constexpr int kThreadClasses = 16 + 4 * 6;  // up to 64 KiB

// A thread's own blocks. The guard's destructor hands them to the shared lists; blocks released
// later than that (by other thread-local destructors) go there directly.
struct ThreadLists {
  void* head[kThreadClasses] = {};
  uint32_t count[kThreadClasses] = {};
  bool closed = false;
};
thread_local ThreadLists lists;

struct ThreadGuard {
  ThreadGuard() { (void)lists; }
  ~ThreadGuard() { drain(true); }
  static void drain(bool close) {
    for (int i = 0; i < kThreadClasses; ++i) {
      const size_t bytes =
          i < 16 ? (static_cast<size_t>(i) + 1) * kAlign
                 : (size_t{1} << (10 + (i - 16) / 4)) / 4 * (5 + static_cast<size_t>(i - 16) % 4);
      while (void* p = pop(&lists.head[i])) give_shared(p, {i, bytes});
      lists.count[i] = 0;
    }
    lists.closed = close;
  }
};

void arm_thread_guard() {
  thread_local ThreadGuard guard;
  (void)guard;
}

}  // namespace

namespace internal {

void count_live(int64_t bytes) noexcept {
  const int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (bytes <= 0) return;
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

void* pool_allocate(size_t bytes) {
  const SizeClass c = class_of(bytes);
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (c.bytes <= kThreadBlock) {
    if (void* p = pop(&lists.head[c.index])) {
      --lists.count[c.index];
      return p;
    }
  }
  return take_shared(c);
}

void pool_release(void* block, size_t bytes) noexcept {
  const SizeClass c = class_of(bytes);
  if (c.bytes <= kThreadBlock && !lists.closed && lists.count[c.index] * c.bytes < kThreadBytes) {
    if (lists.count[c.index] == 0) arm_thread_guard();
    push(&lists.head[c.index], block);
    ++lists.count[c.index];
    return;
  }
  give_shared(block, c);
}

}  // namespace internal

namespace memory {

int64_t live_bytes() { return live.load(std::memory_order_relaxed); }
int64_t peak_bytes() { return peak.load(std::memory_order_relaxed); }
void reset_peak() { peak.store(live.load(std::memory_order_relaxed), std::memory_order_relaxed); }
int64_t cached_bytes() { return cached.load(std::memory_order_relaxed); }
void set_cache_limit(int64_t bytes) { limit.store(bytes, std::memory_order_relaxed); }
int64_t allocation_count() { return allocations.load(std::memory_order_relaxed); }

void clear_cache() {
  ThreadGuard::drain(false);
  SharedLists& s = shared();
  const std::lock_guard lock(s.mutex);
  for (void*& head : s.heads) {
    while (void* p = pop(&head)) std::free(p);
  }
  cached.store(0, std::memory_order_relaxed);
}

}  // namespace memory
}  // namespace spruce
