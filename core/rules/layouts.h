// SPDX-License-Identifier: Apache-2.0
// Which operands and results of a compiled graph stand within other arrays, so that no equation has
// to move their elements.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::rules {

/// The elements of an operand or a result within another value of the graph.
struct StridedPlace {
  ValueId base = -1;   ///< the value, whose own elements are dense
  int64_t offset = 0;  ///< of the first element, in elements
  Shape strides;       ///< from element to element along each axis; 0 repeats
  bool dense = false;  ///< row-major without gaps
};

/// Transposes, slices, reshapes, broadcasts and concatenations of a graph whose readers and writers
/// take strides (Primitive::takes_strides) and that therefore do not run: their readers read what
/// these would move where it stands, and their writers write to where they would move it.
///
/// What is dense in its place, and aligned there, needs no strides: every kernel takes it.
///
/// A slice of a computed array is read in place only where the same equation reads most of that
/// array: it lives as long as its readers.
class Layouts {
 public:
  /// What may take strides.
  enum class Takers : uint8_t {
    kAll,      ///< all kernels: in a graph that is run
    kWorking,  ///< none that only move elements: in a graph whose moves may still join others
  };

  /// Takes a checked graph, which is not kept.
  explicit Layouts(const Graph& graph, Takers takers = Takers::kAll);

  /// False for an equation that only moves elements, none of which are needed in another place.
  bool runs(size_t equation) const { return skipped_.empty() || skipped_[equation] == 0; }
  /// Where input i of an equation that runs stands; null for the value itself.
  const StridedPlace* input(size_t equation, size_t i) const;
  /// The value in whose memory that input is; `e` is the equation.
  ValueId input_base(const Equation& e, size_t equation, size_t i) const;
  /// Where a result stands; null for memory of its own.
  const StridedPlace* result(ValueId v) const;
  /// By input of an equation, the strides, null where it is dense; empty where all are.
  std::vector<const Shape*> input_strides(size_t equation) const;
  /// The same of its outputs.
  std::vector<const Shape*> output_strides(const Equation& equation) const;

 private:
  class Finder;

  std::vector<uint8_t> skipped_;                                  // by equation; empty for none
  std::vector<std::vector<std::optional<StridedPlace>>> inputs_;  // by equation, empty for none
  std::vector<std::optional<StridedPlace>> results_;              // by value; empty for none
};

}  // namespace spruce::rules
