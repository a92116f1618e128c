// SPDX-License-Identifier: Apache-2.0
// Machine code in memory of its own, which is never writable and executable at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace spruce::cpu::x64 {

class Code {
 public:
  /// A copy of position-independent code, or null where the system gives no executable memory.
  static std::unique_ptr<const Code> make(std::span<const uint8_t> bytes);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  const uint8_t* data() const { return data_; }

 private:
  Code(const uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}

  const uint8_t* data_;
  size_t bytes_;
};

}  // namespace spruce::cpu::x64
