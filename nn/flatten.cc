// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/flatten.h"

#include <algorithm>

#include "spruce/core/op_scope.h"

namespace spruce::nn {

Array Flatten::operator()(const Array& x, const FlattenOptions& options, Loc loc) const {
  const OpScope at("flatten", loc);
  const int rank = std::max(x.rank(), 1);
  const int64_t first = options.start_dim.value_or(options.start_axis),
                last = options.end_dim.value_or(options.end_axis);
  const int start = normalize_axis("flatten", first, rank),
            end = normalize_axis("flatten", last, rank);
  if (start > end) {
    throw ShapeError("flatten: start_axis " + std::to_string(first) + " comes after end_axis " +
                     std::to_string(last) + " for x " + to_string(x.aval()));
  }
  if (x.rank() == 0) return x.reshape({1});
  Shape shape;
  int64_t merged = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (i >= start && i <= end) merged *= x.shape()[i];
    if (i == end) shape.push_back(merged);
    if (i < start || i > end) shape.push_back(x.shape()[i]);
  }
  return x.reshape(shape);
}

}  // namespace spruce::nn
