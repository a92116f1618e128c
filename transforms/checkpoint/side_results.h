// SPDX-License-Identifier: Apache-2.0
// What a function changes beside its result while it runs, such as the running statistics of the
// module whose forward it is a part of: checkpoint makes results of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::internal {

class SideResults {
 public:
  virtual ~SideResults() = default;
  /// From here on values of the interpreter of that id may be noted, and no longer those of one
  /// within it. Returns the id before.
  virtual uint64_t move_home(uint64_t interpreter) = 0;
  /// The values that are noted now and that the interpreter of that id has made.
  virtual std::vector<Array> noted(uint64_t interpreter) = 0;
  /// Notes others in the place of what noted() has returned.
  virtual void replace(std::span<const Array> values) = 0;

  /// Those of what runs on this thread; may be null.
  static SideResults* current();
};

/// Makes side results those of this thread while it lives.
class SideResultsScope {
 public:
  explicit SideResultsScope(SideResults* s);
  ~SideResultsScope();
  SideResultsScope(const SideResultsScope&) = delete;
  SideResultsScope& operator=(const SideResultsScope&) = delete;

 private:
  SideResults* saved_;
};

}  // namespace spruce::internal
