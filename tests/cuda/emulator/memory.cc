// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulator/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace spruce::cuda_emulator {
namespace {

constexpr size_t kAlign = 256;
constexpr unsigned char kNan = 0xff, kGuard = 0xa5;

size_t page() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Far more than a page, so that a wrong stride does not reach another block.
constexpr size_t kGap = size_t{16} << 20;

// Addresses for `bytes` bytes, without permission and with a gap on both sides.
char* reserve(size_t bytes) {
  void* p = ::mmap(nullptr, bytes + 2 * kGap, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p) + kGap;
}
void give_back(char* pages, size_t bytes) {
  if (pages != nullptr) ::munmap(pages - kGap, bytes + 2 * kGap);
}

// The most memory of released blocks that is used again: new pages begin with page faults.
constexpr size_t kMostKept = size_t{64} << 20;

}  // namespace

char* DeviceMemory::take_pages(size_t bytes) {
  std::vector<char*>& kept = kept_[bytes];
  if (!kept.empty()) {
    char* const pages = kept.back();
    kept.pop_back();
    kept_bytes_ -= bytes;
    return pages;
  }
  char* const pages = reserve(bytes);
  if (pages == nullptr || ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0) return pages;
  give_back(pages, bytes);
  return nullptr;
}

void DeviceMemory::keep_pages(char* pages, size_t bytes) {
  if (kept_bytes_ + bytes > kMostKept) return give_back(pages, bytes);
  kept_[bytes].push_back(pages);
  kept_bytes_ += bytes;
}

// The end of the block stands as near to the end of its pages as the alignment allows.
void* DeviceMemory::allocate(size_t bytes) {
  if (bytes > limit_ - std::min(limit_, used_)) return nullptr;
  const size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  const size_t inner = std::max<size_t>(1, (rounded + page() - 1) / page()) * page();
  const Block block = {reserve(inner), take_pages(inner), inner, bytes};
  if (block.locked == nullptr || block.pages == nullptr) {
    give_back(block.locked, inner);
    give_back(block.pages, inner);
    return nullptr;
  }
  char* data = block.pages + inner - rounded;
  std::memset(block.pages, kGuard, static_cast<size_t>(data - block.pages));
  std::memset(data, kNan, bytes);
  std::memset(data + bytes, kGuard, rounded - bytes);
  char* address = block.locked + inner - (bytes > 0 ? rounded : kAlign);  // one of its own
  blocks_[address] = block;
  used_ += bytes;
  return address;
}

std::string DeviceMemory::release(void* p) {
  const auto it = blocks_.find(static_cast<const char*>(p));
  if (it == blocks_.end()) return "cuMemFree of what is no block";
  const Block& block = it->second;
  const char* data = block.pages + (it->first - block.locked);
  const char* end = block.pages + block.page_bytes;
  bool whole = true;
  for (const char* c = block.pages; c < data; ++c)
    whole = whole && static_cast<unsigned char>(*c) == kGuard;
  for (const char* c = data + block.bytes; c < end && block.bytes > 0; ++c)
    whole = whole && static_cast<unsigned char>(*c) == kGuard;
  used_ -= block.bytes;
  give_back(block.locked, block.page_bytes);
  keep_pages(block.pages, block.page_bytes);
  blocks_.erase(it);
  return whole ? "" : "a kernel has written outside of a block of memory";
}

DeviceMemory::Blocks::const_iterator DeviceMemory::find(const void* p) const {
  auto it = blocks_.upper_bound(static_cast<const char*>(p));
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  // One past the end belongs to it: an argument of no elements.
  return static_cast<const char*>(p) <= it->first + it->second.bytes ? it : blocks_.end();
}

bool DeviceMemory::contains(const void* p, size_t bytes) const {
  const auto it = find(p);
  return it != blocks_.end() && static_cast<const char*>(p) + bytes <= it->first + it->second.bytes;
}

void* DeviceMemory::open(const void* p) const {
  const auto it = find(p);
  if (it == blocks_.end()) return const_cast<void*>(p);
  return it->second.pages + (static_cast<const char*>(p) - it->second.locked);
}

}  // namespace spruce::cuda_emulator
