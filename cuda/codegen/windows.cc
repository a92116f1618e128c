// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/windows.h"

namespace spruce::cuda {

std::string window_cells(KernelBuilder& kernel, const WindowPlan& plan) {
  std::string text = "    sp::i64 rest = i;\n";
  for (int d = plan.rank; d-- > 0;) {
    const WindowPlan::Axis& a = plan.axes[d];
    const std::string n = std::to_string(d);
    kernel.value("in" + n, a.in);
    kernel.value("out" + n, a.out);
    kernel.value("window" + n, a.window);
    kernel.value("stride" + n, a.stride);
    kernel.value("low" + n, a.low);
    kernel.value("dilation" + n, a.dilation);
    kernel.value("reach" + n, a.window_dilation);
    kernel.value("step" + n, a.step);
    text += "    const sp::i64 c" + n + " = rest % out" + n + ";\n    rest /= out" + n + ";\n";
  }
  return text;
}

std::string window_taps(const WindowPlan& plan, const std::string& each) {
  std::string text = "    {\n    const sp::i64 tap_ = 0, offset_ = 0;\n", before = "_";
  for (int d = 0; d < plan.rank; ++d) {
    const std::string n = std::to_string(d);
    text += "    for (sp::i64 k" + n + " = 0; k" + n + " < window" + n + "; ++k" + n +
            ") {\n    const sp::i64 at" + n + " = c" + n + " * stride" + n + " - low" + n + " + k" +
            n + " * reach" + n + ";\n    if (at" + n + " < 0 || at" + n + " % dilation" + n +
            " != 0 || at" + n + " / dilation" + n + " >= in" + n +
            ") continue;\n    const sp::i64 tap" + n + " = tap" + before + " * window" + n +
            " + k" + n + ", offset" + n + " = offset" + before + " + at" + n + " / dilation" + n +
            " * step" + n + ";\n";
    before = n;
  }
  text += "    const sp::i64 tap = tap" + before + ", offset = offset" + before + ";\n" + each;
  for (int d = 0; d < plan.rank; ++d) text += "    }\n";
  return text + "    }\n";
}

Kernels window_reduction(const PrepareArgs& args, std::string_view state) {
  Kernels out;
  const int64_t n = args.out[0]->numel();
  if (n == 0) return out;
  const WindowPlan plan(args.in[0]->shape, args.out[0]->shape, args.params.get<WindowParams>());
  const Dtype d = args.in[0]->dtype;
  KernelBuilder kernel("reduce_window", args);
  kernel.front(shuffle_prelude());
  kernel.front(reduce_prelude());
  const std::string x = kernel.input(0), y = kernel.output(0);
  std::string body = window_cells(kernel, plan) + "    sp::" + std::string(state) + "<" +
                     std::string(compute_type(d)) + "> state;\n    state.start();\n";
  body += window_taps(plan, "    state.add(sp::widen(" + x + "[offset]), tap);\n");
  const std::string type(text_type(args.out[0]->dtype));
  body += "    " + y + "[i] = sp::narrow<" + type + ">(" +
          std::string(compute_type(args.out[0]->dtype)) + "(state.result()));\n";
  out.steps.push_back(kernel.for_each(n, body));
  return out;
}

}  // namespace spruce::cuda
