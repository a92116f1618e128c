// SPDX-License-Identifier: Apache-2.0
// Pieces of one block of memory, one behind the other.
#pragma once

#include <cstddef>

namespace spruce::internal {

/// A layout in the making.
class BlockLayout {
 public:
  /// Each piece begins at a multiple of `alignment`, as the block does.
  explicit BlockLayout(size_t alignment) : alignment_(alignment) {}

  /// The offset of so many bytes more.
  size_t add(size_t bytes) {
    const size_t at = bytes_;
    bytes_ += (bytes + alignment_ - 1) / alignment_ * alignment_;
    return at;
  }
  /// Of all pieces.
  size_t bytes() const { return bytes_; }

 private:
  size_t alignment_, bytes_ = 0;
};

}  // namespace spruce::internal
