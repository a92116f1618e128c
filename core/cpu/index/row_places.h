// SPDX-License-Identifier: Apache-2.0
// Where the rows lie that a gather reads, some of them ahead of the one that is worked on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/cpu/row_copy.h"

namespace spruce::cpu {

/// The rows at the positions begin..end of a gather, located in steps.
class RowPlaces {
 public:
  /// The most positions that are found at once.
  static constexpr int64_t kMost = 512;

  /// `w` has to live as long.
  RowPlaces(const Windows& w, int64_t begin, int64_t end)
      : w_(w), begin_(begin), end_(begin), last_(end) {}

  /// Gives `rows` the places of `count` positions from `at` on, and of more that follow.
  void find(int64_t at, int64_t count, RowCopy& rows) {
    if (at < begin_ || (end_ < last_ && at + count + kMostRowsAhead > end_)) {
      begin_ = at, end_ = std::min(last_, at + kLocated);
      w_.locate(begin_, end_, in_operand_, nullptr);
    }
    rows.places = in_operand_ + (at - begin_);
    rows.known = end_ - at;
  }

 private:
  static constexpr int64_t kLocated = kMost + kMostRowsAhead;

  const Windows& w_;
  int64_t begin_, end_, last_;
  int64_t in_operand_[kLocated];
};

}  // namespace spruce::cpu
