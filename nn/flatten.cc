// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/flatten.h"

#include <algorithm>

#include "spruce/core/op_scope.h"

namespace spruce::nn {

Array Flatten::operator()(const Array& x, const FlattenOptions& options, Loc loc) const {
  const OpScope at("flatten", loc);
  const int rank = std::max(x.rank(), 1);
  const int start = normalize_axis("flatten", options.start_dim, rank),
            end = normalize_axis("flatten", options.end_dim, rank);
  if (start > end) {
    throw ShapeError("flatten: start_dim " + std::to_string(options.start_dim) +
                     " comes after end_dim " + std::to_string(options.end_dim) + " for x " +
                     to_string(x.aval()));
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
