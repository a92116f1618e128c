// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/sort.h"

namespace spruce::rules {
namespace {

double numel(const Aval& a) { return static_cast<double>(a.shape.numel()); }

// How many of `places` windows have their element `offset` on an element of an axis, and not
// between or beside them.
int64_t places_on_elements(int64_t size, int64_t dilation, int64_t offset, int64_t stride,
                           int64_t places) {
  const int64_t end = dilated_size(size, dilation);
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = end <= offset ? -1 : std::min(places - 1, (end - 1 - offset) / stride);
  // The elements repeat after at most `dilation` places.
  const int64_t period = dilation / std::gcd(dilation, stride);
  for (int64_t i = first; i <= last && i < first + period; ++i) {
    if ((i * stride + offset) % dilation == 0) return (last - i) / period + 1;
  }
  return 0;
}

}  // namespace

double dot_flops(const PrepareArgs& a) {
  double contracted = 1;
  for (const int64_t axis : a.params.get<DotParams>().lhs_contract)
    contracted *= static_cast<double>(a.in[0]->shape[axis]);
  return 2 * numel(*a.out[0]) * contracted;
}

double conv_flops(const PrepareArgs& a) {
  const auto& p = a.params.get<ConvParams>();
  const Shape& window = a.in[1]->shape;
  const int64_t features = p.rhs_swapped ? window[1] * p.feature_group_count : window[0];
  const Shape& x = a.in[0]->shape;
  const int rank = x.rank() - 2;
  const auto list = [&](const Shape& s, int64_t value) {
    return filled_in("conv_general", "list", s, rank, value);
  };
  const Shape stride = list(p.strides, 1), low = list(p.padding_low, 0),
              dilation = list(p.lhs_dilation, 1), window_dilation = list(p.rhs_dilation, 1);
  double flops =
      2 * numel(*a.out[0]) * numel(*a.in[1]) / static_cast<double>(std::max<int64_t>(1, features));
  for (int d = 0; d < rank && flops > 0; ++d) {
    const int64_t places = a.out[0]->shape[d + 2];
    int64_t hits = 0;
    for (int64_t k = 0; k < window[d + 2]; ++k)
      hits += places_on_elements(x[d + 2], dilation[d], k * window_dilation[d] - low[d], stride[d],
                                 places);
    flops *= static_cast<double>(hits) / (static_cast<double>(places * window[d + 2]));
  }
  return flops;
}

double window_flops(const PrepareArgs& a) {
  return numel(*a.out[0]) * static_cast<double>(a.params.get<WindowParams>().window.numel());
}

double sort_flops(const PrepareArgs& a) {
  const Shape& shape = a.in[0]->shape;
  const int64_t n = shape[a.params.get<SortParams>().axis];
  return numel(*a.in[0]) * std::max(1.0, std::ceil(std::log2(static_cast<double>(n) + 1)));
}

}  // namespace spruce::rules
