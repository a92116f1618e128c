// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn::internal {

std::string spatial_names(int axes) {
  switch (axes) {
    case 1:
      return "length";
    case 2:
      return "height, width";
    case 3:
      return "depth, height, width";
    default:
      return std::to_string(axes) + " sizes";
  }
}

void require_spatial_axes(const char* op, int axes, const Array& x) {
  if (x.rank() != axes + 1 && x.rank() != axes + 2) {
    throw ShapeError(std::string(op) + ": takes f[n, c, " + spatial_names(axes) +
                     "] or f[c, ...], got " + to_string(x.aval()));
  }
}

int64_t channels_of(const char* op, int axes, const Array& x) {
  require_spatial_axes(op, axes, x);
  return x.shape(-1 - axes);
}

std::string channels_clash(int axes, const Array& x, int64_t per_group, int64_t groups) {
  if (x.rank() != axes + 1 && x.rank() != axes + 2) return "";
  const int64_t channels = x.shape(-1 - axes);
  int64_t expected = 0;
  if (__builtin_mul_overflow(per_group, groups, &expected) || channels == expected) return "";
  return "; x has " + std::to_string(channels) + " channels, weight takes " +
         std::to_string(expected);
}

}  // namespace spruce::nn::internal
