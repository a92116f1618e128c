// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel needs for the time of one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spruce/core/memory.h"

namespace spruce::cpu {

namespace internal {

struct Region {
  char *at = nullptr, *end = nullptr;
};
inline thread_local Region region;

}  // namespace internal

/// While one of these lives, blocks of workspace on this thread come from the given memory, aligned
/// to 64, as far as it reaches.
class WorkspaceRegion {
 public:
  /// `bytes` bytes at `memory`, which is not owned; null changes nothing.
  WorkspaceRegion(void* memory, size_t bytes) : saved_(internal::region) {
    if (memory != nullptr)
      internal::region = {static_cast<char*>(memory), static_cast<char*>(memory) + bytes};
  }
  ~WorkspaceRegion() { internal::region = saved_; }
  WorkspaceRegion(const WorkspaceRegion&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  WorkspaceRegion& operator=(const WorkspaceRegion&) = delete;

 private:
  internal::Region saved_;
};

/// Bytes of so many elements of type T.
template <class T = float>
constexpr size_t bytes_of(int64_t elements) {
  return static_cast<size_t>(elements) * sizeof(T);
}
/// What a block of `bytes` takes of a region.
constexpr size_t workspace_size(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A block from the region of this thread or from the pool of array memory, aligned to 64, not
/// initialised. Blocks end in the opposite order of their beginnings.
class Workspace {
 public:
  /// A block of that size; null for 0 bytes. Throws std::bad_alloc.
  explicit Workspace(size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    internal::Region& r = internal::region;
    if (workspace_size(bytes) <= static_cast<size_t>(r.end - r.at)) {
      data_ = r.at;
      r.at += workspace_size(bytes);
      of_region_ = true;
    } else {
      data_ = spruce::internal::pool_allocate(bytes);
    }
  }
  ~Workspace() {
    if (data_ == nullptr) return;
    if (of_region_)
      internal::region.at = static_cast<char*>(data_);
    else
      spruce::internal::pool_release(data_, bytes_);
  }
  Workspace(const Workspace&) = delete;
  /// Neither copied nor assigned: it owns its block.
  Workspace& operator=(const Workspace&) = delete;

  /// The first byte, null for 0 bytes.
  void* data() const { return data_; }
  /// The same as elements of type T.
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_;
  bool of_region_ = false;
};

}  // namespace spruce::cpu
