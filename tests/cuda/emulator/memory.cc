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

}  // namespace

// The end of the block stands as near to the end of its pages as the alignment allows.
void* DeviceMemory::allocate(size_t bytes) {
  if (bytes > limit_ - std::min(limit_, used_)) return nullptr;
  const size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  const size_t inner = std::max<size_t>(1, (rounded + page() - 1) / page()) * page();
  void* p = ::mmap(nullptr, inner + 2 * page(), PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* pages = static_cast<char*>(p) + page();
  ::mprotect(pages, inner, PROT_READ | PROT_WRITE);
  char* data = pages + inner - rounded;
  std::memset(pages, kGuard, static_cast<size_t>(data - pages));
  std::memset(data, kNan, bytes);
  std::memset(data + bytes, kGuard, rounded - bytes);
  ::mprotect(pages, inner, PROT_NONE);
  if (bytes == 0) data -= kAlign;  // an address of its own
  blocks_[data] = {pages, inner, bytes};
  used_ += bytes;
  return data;
}

std::string DeviceMemory::release(void* p) {
  const auto it = blocks_.find(static_cast<const char*>(p));
  if (it == blocks_.end()) return "cuMemFree of what is no block";
  const auto& [data, block] = *it;
  ::mprotect(block.pages, block.page_bytes, PROT_READ);
  const char* end = block.pages + block.page_bytes;
  bool whole = true;
  for (const char* c = block.pages; c < data; ++c)
    whole = whole && static_cast<unsigned char>(*c) == kGuard;
  for (const char* c = data + block.bytes; c < end && block.bytes > 0; ++c)
    whole = whole && static_cast<unsigned char>(*c) == kGuard;
  used_ -= block.bytes;
  ::munmap(block.pages - page(), block.page_bytes + 2 * page());
  blocks_.erase(it);
  return whole ? "" : "a kernel has written outside of a block of memory";
}

std::map<const char*, DeviceMemory::Block>::iterator DeviceMemory::find(const void* p) {
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

void DeviceMemory::change(Block& block, int by) {
  const bool was_open = block.open > 0;
  block.open += by;
  if (was_open != (block.open > 0))
    ::mprotect(block.pages, block.page_bytes, block.open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
}

DeviceMemory::Opened::Opened(DeviceMemory& memory, const std::vector<const void*>& addresses)
    : memory_(memory) {
  for (const void* p : addresses) {
    const auto it = memory_.find(p);
    if (it == memory_.blocks_.end()) continue;
    memory_.change(it->second, 1);
    blocks_.push_back(it->first);
  }
}

DeviceMemory::Opened::~Opened() {
  for (const void* p : blocks_) memory_.change(memory_.blocks_.at(static_cast<const char*>(p)), -1);
}

}  // namespace spruce::cuda_emulator
