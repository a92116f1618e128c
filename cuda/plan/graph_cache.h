// SPDX-License-Identifier: Apache-2.0
// CUDA graphs of one compiled function, by the addresses that they work on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "spruce/cuda/driver/context.h"

namespace spruce::cuda {

/// Not safe to call from several threads at once: compiled functions run under the lock of the
/// device's arena.
class GraphCache {
 public:
  explicit GraphCache(Context& context) : context_(context) {}
  ~GraphCache();
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;

  /// Runs what `enqueue` puts on a stream, which depends on nothing but the addresses and `mode`.
  /// Those that come for the second time get a graph, or where `at_once` all but the very first; a
  /// few of them are kept, and what has not been used for longest is changed for others.
  void run(std::span<void* const> addresses, int mode, bool at_once,
           const std::function<void(CUstream)>& enqueue);

 private:
  static constexpr size_t kMost = 8;
  struct Entry {
    std::vector<void*> addresses;
    int mode = 0;
    CUgraphExec exec = nullptr;  // null: seen once
    uint64_t used = 0;
  };
  CUgraph capture(const std::function<void(CUstream)>& enqueue);

  Context& context_;
  std::vector<Entry> entries_;
  std::vector<CUgraphExec> spare_;  // of addresses that were forgotten
  uint64_t now_ = 0;
  bool has_run_ = false;
};

}  // namespace spruce::cuda
