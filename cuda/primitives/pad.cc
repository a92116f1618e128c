// SPDX-License-Identifier: Apache-2.0
// One thread for each element of the result, which looks up whether it is one of the operand.
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_pad(const PrepareArgs& a) {
  const auto& p = a.params.get<PadParams>();
  const Shape &x = a.in[0]->shape, &y = a.out[0]->shape;
  const int64_t bytes = size_of(a.in[0]->dtype);
  Kernels out;
  if (y.numel() == 0) return out;
  KernelBuilder kernel("pad", a);
  const std::string from = declare_bits(kernel, of_input(0), bytes),
                    value = declare_bits(kernel, of_input(1), bytes),
                    to = declare_bits(kernel, of_output(0), bytes);
  const Shape steps = input_strides(a, 0);
  std::string body = "    sp::i64 rest = i, p = 0;\n    bool inside = true;\n";
  for (int d = x.rank(); d-- > 0;) {
    const std::string n = std::to_string(d);
    kernel.value("n" + n, y[d]);
    kernel.value("x" + n + "n", x[d]);
    kernel.value("low" + n, p.low[d]);
    kernel.value("gap" + n, p.interior[d] + 1);
    kernel.value("s" + n, steps[d]);
    body += "    {\n      const sp::i64 at = rest % n" + n + " - low" + n + ";\n      rest /= n" +
            n + ";\n      inside = inside && at >= 0 && at % gap" + n + " == 0 && at / gap" + n +
            " < x" + n + "n;\n      p += at / gap" + n + " * s" + n + ";\n    }\n";
  }
  body += "    " + to + "[i] = inside ? " + from + "[p] : *" + value + ";\n";
  out.steps.push_back(kernel.for_each(y.numel(), body));
  return out;
}

}  // namespace

extern const Twin pad_twin = {&pad_p, make_pad};

}  // namespace spruce::cuda
