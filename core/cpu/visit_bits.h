// SPDX-License-Identifier: Apache-2.0
// Elements of which only the size counts, as where they are moved.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// f(T{}) for the unsigned T of 1, 2, 4 or 8 bytes.
template <class F>
decltype(auto) visit_bits(int64_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace spruce::cpu
