// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/cost.h"

#include <algorithm>
#include <cmath>

#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/sort.h"

namespace spruce::rules {
namespace {

double numel(const Aval& a) { return static_cast<double>(a.shape.numel()); }

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
  return 2 * numel(*a.out[0]) * numel(*a.in[1]) /
         static_cast<double>(std::max<int64_t>(1, features));
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
