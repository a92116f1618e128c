// SPDX-License-Identifier: Apache-2.0
// Each element of the result looks at the windows that hold it, in their order: sums are the same
// every time.
#include "spruce/core/rules/window.h"
#include "spruce/cuda/codegen/windows.h"

namespace spruce {
extern const Primitive window_scatter_add_p;
}

namespace spruce::cuda {
namespace {

Kernels make_window_scatter_add(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  const auto& p = a.params.get<WindowScatterParams>();
  const WindowPlan plan(a.out[0]->shape, a.in[0]->shape, rules::windows_of(p));
  const Dtype d = a.out[0]->dtype;
  const std::string type(text_type(d)), computed(compute_type(d));
  KernelBuilder kernel("window_scatter_add", a);
  const std::string x = kernel.input(0), index = kernel.input(1), y = kernel.output(0);
  std::string body = "    sp::i64 rest = i;\n    " + computed + " sum = 0;\n";
  for (int k = plan.rank; k-- > 0;) {
    const WindowPlan::Axis& axis = plan.axes[k];
    const std::string s = std::to_string(k);
    kernel.value("in" + s, axis.in);
    kernel.value("out" + s, axis.out);
    kernel.value("window" + s, axis.window);
    kernel.value("stride" + s, axis.stride);
    kernel.value("low" + s, axis.low);
    kernel.value("dilation" + s, axis.dilation);
    kernel.value("reach" + s, axis.window_dilation);
    body += "    const sp::i64 e" + s + " = rest % in" + s + ";\n    rest /= in" + s + ";\n";
  }
  body += "    const sp::i64 cell_ = 0, tap_ = 0;\n";
  std::string before = "_";
  for (int k = 0; k < plan.rank; ++k) {
    const std::string s = std::to_string(k);
    body += "    for (sp::i64 k" + s + " = window" + s + "; k" + s +
            "-- > 0;) {\n    const sp::i64 at" + s + " = e" + s + " * dilation" + s + " + low" + s +
            " - k" + s + " * reach" + s + ";\n    if (at" + s + " < 0 || at" + s + " % stride" + s +
            " != 0 || at" + s + " / stride" + s + " >= out" + s +
            ") continue;\n    const sp::i64 cell" + s + " = cell" + before + " * out" + s +
            " + at" + s + " / stride" + s + ", tap" + s + " = tap" + before + " * window" + s +
            " + k" + s + ";\n";
    before = s;
  }
  body += "    if (" + index + "[cell" + before + "] == tap" + before +
          ") sum = sp::add(sum, sp::widen(" + x + "[cell" + before + "]));\n";
  for (int k = 0; k < plan.rank; ++k) body += "    }\n";
  body += "    " + y + "[i] = sp::narrow<" + type + ">(sum);\n";
  out.steps.push_back(kernel.for_each(n, body));
  return out;
}

}  // namespace

extern const Twin window_scatter_add_twin = {&window_scatter_add_p, make_window_scatter_add};

}  // namespace spruce::cuda
