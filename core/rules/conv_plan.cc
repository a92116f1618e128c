// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/conv_plan.h"

namespace spruce {

ConvPlan plan_conv(const Shape& lhs, const Shape& rhs, const Shape& out, const ConvParams& p) {
  const int spatial = lhs.rank() - 2;
  ConvPlan c{};
  for (int d = 0; d < ConvPlan::kDims; ++d) {
    const int i = d - (ConvPlan::kDims - spatial);
    const bool there = i >= 0;
    c.in[d] = there ? lhs[2 + i] : 1;
    c.window[d] = there ? rhs[2 + i] : 1;
    c.out[d] = there ? out[2 + i] : 1;
    c.stride[d] = there ? p.strides[i] : 1;
    c.low[d] = there ? p.padding_low[i] : 0;
    c.dilation[d] = there ? p.lhs_dilation[i] : 1;
    c.window_dilation[d] = there ? p.rhs_dilation[i] : 1;
  }
  c.reversed = p.reversed;
  const Shape l = row_major_strides(lhs), r = row_major_strides(rhs), y = row_major_strides(out);
  const int n_axis = p.lhs_swapped ? 1 : 0, o_axis = p.rhs_swapped ? 1 : 0,
            y_axis = p.out_swapped ? 1 : 0;
  const int64_t f = p.feature_group_count, b = p.batch_group_count;
  c.groups = f * b;
  c.batch = lhs[n_axis] / b;
  c.in_features = lhs[1 - n_axis] / f;
  c.out_features = out[1 - y_axis] / c.groups;
  c.lhs_batch = l[n_axis], c.lhs_feature = l[1 - n_axis];
  c.lhs_group = f > 1 ? c.in_features * c.lhs_feature : c.batch * c.lhs_batch;
  c.rhs_out = r[o_axis], c.rhs_in = r[1 - o_axis];
  c.rhs_group = f > 1 && p.rhs_swapped ? c.in_features * c.rhs_in : c.out_features * c.rhs_out;
  c.out_batch = y[y_axis], c.out_feature = y[1 - y_axis];
  c.out_group = c.out_features * c.out_feature;
  return c;
}

}  // namespace spruce
