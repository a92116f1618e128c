// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/code.h"

#include <sys/mman.h>

#include <cstring>

namespace spruce::cpu::x64 {

std::unique_ptr<const Code> Code::make(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return nullptr;
  void* memory =
      mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, bytes.data(), bytes.size());
  if (mprotect(memory, bytes.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, bytes.size());
    return nullptr;
  }
  return std::unique_ptr<const Code>(new Code(static_cast<const uint8_t*>(memory), bytes.size()));
}

Code::~Code() { munmap(const_cast<uint8_t*>(data_), bytes_); }

}  // namespace spruce::cpu::x64
