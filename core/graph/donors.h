// SPDX-License-Identifier: Apache-2.0
// Which results of a graph take over the memory of which inputs, where a call gives these up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// A result that has memory of its own.
struct OwnResult {
  size_t k;        ///< which output of the graph it is
  int64_t bytes;   ///< of its memory
  int64_t step;    ///< the equation that first writes to that
  int64_t output;  ///< the output of that equation which does, or -1
};

/// Finds a donor for each result: an input of as many bytes that the same equation reads last, and
/// may write over, or that has been read for the last time before. Output k prefers the input
/// first_state + k, its predecessor: then a state that is passed through a step keeps its memory.
class Donors {
 public:
  /// The input of the graph in which an operand of an equation stands, or -1.
  using InputAt = std::function<int64_t(size_t step, size_t operand)>;
  /// True if an equation may write that output over that operand.
  using InPlace = std::function<bool(size_t step, size_t operand, size_t output)>;

  Donors(const Graph& graph, size_t first_state, const InputAt& input_at, InPlace in_place);

  /// That input is read after all equations.
  void keep(size_t input) { taken_[input] = 1; }
  /// Gives results their predecessors, in either way.
  void give_predecessors(std::span<const OwnResult> results);
  /// Gives results what the same equation reads: predecessors first. True if there was one.
  bool give_in_place(std::span<const OwnResult> results);
  /// Gives results what is not read any more.
  void give_dead(std::span<const OwnResult> results);

  /// The donor of output k, or -1.
  int64_t donor(size_t k) const { return donors_[k]; }
  /// Some other inputs which would do for output k, if donor(k) is read by its own equation.
  const std::vector<int64_t>& others(size_t k) const { return others_[k]; }

 private:
  // The inputs that an equation reads last.
  struct Reads {
    std::map<size_t, std::vector<size_t>> operands;  // by input
    size_t pairs_left;                               // with results that may still be looked at
  };

  bool dead(size_t input, const OwnResult& r) const {
    return last_[input] < r.step && bytes_[input] == r.bytes;
  }
  bool fits(size_t input, const OwnResult& r) const;
  void give(size_t input, const OwnResult& r);
  bool give_predecessor(const OwnResult& r, bool in_place, bool dead);
  bool give_what_it_reads(const OwnResult& r);
  void find_others(const OwnResult& r);

  const size_t first_state_;
  InPlace in_place_;
  std::vector<int64_t> bytes_, last_;  // by input: the last equation that reads it
  std::vector<uint8_t> taken_;         // by input
  std::map<int64_t, Reads> reads_;     // by equation
  std::vector<int64_t> donors_;        // by output
  std::vector<std::vector<int64_t>> others_;
};

}  // namespace spruce::internal
