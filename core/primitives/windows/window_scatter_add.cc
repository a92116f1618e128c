// SPDX-License-Identifier: Apache-2.0
// Adds each element to the one of its window that an index names: the transpose of window_gather.
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/window.h"

namespace spruce {
namespace {

Aval window_scatter_add_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<WindowScatterParams>();
  const Aval out{a.in[0]->dtype, a.in[0]->weak, p.shape};
  check_shape(a.op, p.shape, size_of(out.dtype));
  const Shape windows = rules::window_shape(a.op, out, rules::windows_of(p));
  if (a.in[1]->dtype != Dtype::kInt32 || !(a.in[1]->shape == windows) ||
      !(a.in[0]->shape == windows)) {
    throw ShapeError(std::string(a.op) + ": the windows of " + to_string(out) + " are " +
                     to_string(windows) + ", got " + to_string(*a.in[0]) + " and the indices " +
                     to_string(*a.in[1]));
  }
  if (is_bool(out.dtype))
    throw DtypeError(std::string(a.op) + ": takes numbers, not bool; convert with astype");
  return out;
}

void window_scatter_add_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  if (a.tangents[0].defined()) a.out_tangents[0] = bind1(a.p, {a.tangents[0], a.in[1]}, a.params);
}

void window_scatter_add_transpose(const TransposeArgs& a) {
  const auto& p = a.params.get<WindowScatterParams>();
  const WindowGatherParams q = rules::with_windows(WindowGatherParams{}, rules::windows_of(p));
  a.out[0] = bind1(window_gather_p, {a.cts[0], a.in[1]}, Params::make(q));
}

void window_scatter_add_batch(const BatchArgs& a) {
  WindowScatterParams p = a.params.get<WindowScatterParams>();
  p = rules::with_windows(p, rules::with_front_axis(rules::windows_of(p)));
  p.shape.insert(0, a.size);
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size),
              index = rules::materialize_batch(a.in[1], a.batched[1], a.size);
  a.out[0] = bind1(a.p, {x, index}, Params::make(p));
}

std::vector<Sample> window_scatter_add_samples() {
  std::vector<Sample> out;
  for (const rules::WindowCase& c : rules::window_cases()) {
    WindowScatterParams p = rules::with_windows(WindowScatterParams{}, c.params);
    p.shape = c.shape;
    const Shape windows =
        rules::window_shape("window_scatter_add", {Dtype::kFloat32, false, c.shape}, c.params);
    Sample s = rules::sample_of({windows}, Params::make(p));
    SampleInput index;
    index.aval = {Dtype::kInt32, false, windows};
    for (int64_t i = 0; i < windows.numel(); ++i)
      index.values.push_back(static_cast<double>((i * 3 + 1) % (c.params.window.numel() + 1)) - 1);
    s.in.push_back(index);
    out.push_back(s);
  }
  return out;
}

}  // namespace

extern constinit const Primitive window_scatter_add_p = {
    .name = "window_scatter_add",
    .shape = window_scatter_add_shape,
    .cpu = cpu::window_scatter_add_kernel,
    .jvp = window_scatter_add_jvp,
    .transpose = window_scatter_add_transpose,
    .batch = window_scatter_add_batch,
    .samples = window_scatter_add_samples,
    .params = kParamsOf<WindowScatterParams>,
    .prepare = cpu::prepare_with_workspace<cpu::window_scatter_add_kernel,
                                           cpu::window_scatter_add_workspace>,
    .flops = rules::flops_per_last_input<1>,
    .rows = rules::rows_of_windows<WindowScatterParams>,
    .row_params = rules::shape_of_rows<WindowScatterParams>,
};

}  // namespace spruce
