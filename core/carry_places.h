// SPDX-License-Identifier: Apache-2.0
// Where the carry of a loop stands from step to step.
#pragma once

#include <vector>

#include "spruce/core/block_layout.h"

namespace spruce::internal {

/// The places of what steps hand on to each other. A part of the carry that a step may not write
/// over is by turns in its output's memory and in a second place.
class CarryPlaces {
 public:
  /// One part more, of so many bytes. `in_place`: each step may write over the one before.
  void add(bool in_place, size_t bytes, BlockLayout& layout) {
    parts_.push_back({in_place, in_place ? 0 : layout.add(bytes)});
  }
  /// True if each step writes part i over the one before.
  bool in_place(size_t i) const { return parts_[i].in_place; }

  /// Sets in[i] and out[i], where the next step reads and writes part i: the first step reads
  /// init(i), others what was written before them; with `to_outputs`, as in every second step, it
  /// writes to output(i), else to a place in `block`.
  template <class In, class Init, class Output>
  void move(In* in, void** out, bool first, bool to_outputs, const Init& init, const Output& output,
            void* block) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& p = parts_[i];
      in[i] = first ? init(i) : out[i];
      out[i] = p.in_place || to_outputs ? output(i) : static_cast<char*>(block) + p.second;
    }
  }

 private:
  struct Part {
    bool in_place;
    size_t second;  // the offset of the second place
  };
  std::vector<Part> parts_;
};

}  // namespace spruce::internal
