// SPDX-License-Identifier: Apache-2.0
// The element of each window that an index names; linear in the first input.
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/window.h"

namespace spruce {
namespace {

Aval window_gather_shape(const ShapeArgs& a) {
  const Shape out =
      rules::window_shape(a.op, *a.in[0], rules::windows_of(a.params.get<WindowGatherParams>()));
  if (a.in[1]->dtype != Dtype::kInt32 || !(a.in[1]->shape == out)) {
    throw ShapeError(std::string(a.op) + ": the indices are " + to_string(*a.in[1]) + " where i32" +
                     to_string(out) + " is due for x " + to_string(*a.in[0]));
  }
  return {a.in[0]->dtype, a.in[0]->weak, out};
}

void window_gather_jvp(const JvpArgs& a) {
  auto p = a.params.get<WindowGatherParams>();
  a.out[0] = bind1(a.p, a.in, a.params);
  if (!a.tangents[0].defined()) return;
  p.fill = 0;
  a.out_tangents[0] = bind1(a.p, {a.tangents[0], a.in[1]}, Params::make(p));
}

void window_gather_transpose(const TransposeArgs& a) {
  const auto& p = a.params.get<WindowGatherParams>();
  WindowScatterParams q = rules::with_windows(WindowScatterParams{}, rules::windows_of(p));
  q.shape = a.avals[0].shape;
  a.out[0] = bind1(window_scatter_add_p, {a.cts[0], a.in[1]}, Params::make(q));
}

void window_gather_batch(const BatchArgs& a) {
  const auto& p = a.params.get<WindowGatherParams>();
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size),
              index = rules::materialize_batch(a.in[1], a.batched[1], a.size);
  a.out[0] =
      bind1(a.p, {x, index},
            Params::make(rules::with_windows(p, rules::with_front_axis(rules::windows_of(p)))));
}

std::vector<Sample> window_gather_samples() {
  std::vector<Sample> out;
  for (const rules::WindowCase& c : rules::window_cases()) {
    const WindowGatherParams p = rules::with_windows(WindowGatherParams{}, c.params);
    const Shape shape =
        rules::window_shape("window_gather", {Dtype::kFloat32, false, c.shape}, c.params);
    Sample s = rules::sample_of({c.shape}, Params::make(p));
    SampleInput index;
    index.aval = {Dtype::kInt32, false, shape};
    for (int64_t i = 0; i < shape.numel(); ++i)
      index.values.push_back(static_cast<double>((i * 3 + 1) % (c.params.window.numel() + 1)) - 1);
    s.in.push_back(index);
    out.push_back(s);
  }
  return out;
}

}  // namespace

extern constinit const Primitive window_gather_p = {
    .name = "window_gather",
    .shape = window_gather_shape,
    .cpu = cpu::window_gather_kernel,
    .jvp = window_gather_jvp,
    .transpose = window_gather_transpose,
    .batch = window_gather_batch,
    .samples = window_gather_samples,
    .params = kParamsOf<WindowGatherParams>,
    .prepare = cpu::prepare_with_workspace<cpu::window_gather_kernel, cpu::window_gather_workspace>,
    .reads_part = true,
    .flops = rules::no_flops,
    .rows = rules::rows_of_windows<WindowGatherParams>,
};

}  // namespace spruce
