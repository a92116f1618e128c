// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn::internal {

void require_spatial_axes(const char* op, int axes, const Array& x) {
  if (x.rank() != axes + 1 && x.rank() != axes + 2) {
    throw ShapeError(std::string(op) + ": takes f[n, c, " + std::to_string(axes) +
                     " sizes] or f[c, ...], got " + to_string(x.aval()));
  }
}

int64_t channels_of(const char* op, int axes, const Array& x) {
  require_spatial_axes(op, axes, x);
  return x.shape(-1 - axes);
}

}  // namespace spruce::nn::internal
