// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window.h"
#include "spruce/cuda/codegen/windows.h"

namespace spruce {
extern const Primitive window_gather_p;
}

namespace spruce::cuda {
namespace {

Kernels make_window_gather(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  const auto& p = a.params.get<WindowGatherParams>();
  const WindowPlan plan(a.in[0]->shape, a.out[0]->shape, rules::windows_of(p));
  const Dtype d = a.out[0]->dtype;
  KernelBuilder kernel("window_gather", a);
  const std::string x = kernel.input(0), index = kernel.input(1), y = kernel.output(0);
  kernel.value("taps", plan.taps());
  std::string body = window_cells(kernel, plan);
  body += "    sp::i64 tap = " + index +
          "[i], offset = 0;\n    bool inside = tap >= 0 && tap < taps;\n";
  for (int k = plan.rank; k-- > 0;) {
    const std::string s = std::to_string(k);
    body += "    {\n      const sp::i64 at = c" + s + " * stride" + s + " - low" + s +
            " + tap % window" + s + " * reach" + s + ";\n      tap /= window" + s +
            ";\n      inside = inside && at >= 0 && at % dilation" + s + " == 0 && at / dilation" +
            s + " < in" + s + ";\n      offset += at / dilation" + s + " * step" + s + ";\n    }\n";
  }
  body += "    " + y + "[i] = inside ? " + x + "[offset] : sp::narrow<" +
          std::string(text_type(d)) + ">(" + literal(d, p.fill) + ");\n";
  out.steps.push_back(kernel.for_each(n, body));
  return out;
}

}  // namespace

extern const Twin window_gather_twin = {&window_gather_p, make_window_gather};

}  // namespace spruce::cuda
