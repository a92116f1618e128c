// SPDX-License-Identifier: Apache-2.0
// The sum over each window.
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/window.h"

namespace spruce {
namespace {

// The transpose is a sum over windows too: strides and base dilation change places.
void reduce_window_sum_transpose(const TransposeArgs& a) {
  const auto& p = a.params.get<WindowParams>();
  const Shape &in = a.avals[0].shape, &out = a.cts[0].shape();
  WindowParams q = p;
  q.strides = p.base_dilation;
  q.base_dilation = p.strides;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t reach = rules::dilated_size(p.window[d], p.window_dilation[d]) - 1;
    q.padding_low[d] = reach - p.padding_low[d];
    q.padding_high[d] = rules::dilated_size(in[d], p.base_dilation[d]) + reach -
                        rules::dilated_size(out[d], p.strides[d]) - q.padding_low[d];
  }
  a.out[0] = bind1(reduce_window_sum_p, {a.cts[0]}, Params::make(q));
}

}  // namespace

extern constinit const Primitive reduce_window_sum_p = {
    .name = "reduce_window_sum",
    .shape = rules::window_reduced_numeric,
    .cpu = cpu::window_sum_kernel,
    .jvp = rules::jvp_linear,
    .transpose = reduce_window_sum_transpose,
    .batch = rules::batch_window,
    .samples = rules::window_samples,
    .params = kParamsOf<WindowParams>,
    .prepare = cpu::prepare_with_workspace<cpu::window_sum_kernel, cpu::window_reduce_workspace>,
    .flops = rules::window_flops,
    .rows = rules::rows_of_windows<WindowParams>,
};

}  // namespace spruce
