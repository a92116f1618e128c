// SPDX-License-Identifier: Apache-2.0
// Pieces of the samples of primitives with nested graphs.
#pragma once

#include <memory>
#include <string_view>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

inline GraphPtr sample_body(std::string_view text) {
  return std::make_shared<const Graph>(spruce::parse_graph(text));
}

inline SampleInput sample_input(const Shape& shape, double low = -1, double high = 1,
                                Dtype dtype = Dtype::kFloat64) {
  SampleInput in;
  in.aval = {dtype, false, shape};
  in.low = low;
  in.high = high;
  return in;
}

}  // namespace spruce::internal
