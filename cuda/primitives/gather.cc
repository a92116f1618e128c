// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/gather.h"

#include "spruce/cuda/codegen/index_windows.h"
#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {
namespace {

Kernels make_gather(const PrepareArgs& a) {
  Kernels out;
  const IndexWindows w(a.params.get<GatherParams>(), a.in[0]->shape, a.out[0]->shape);
  const int64_t n = a.out[0]->numel(), bytes = size_of(a.out[0]->dtype);
  if (n == 0) return out;
  KernelBuilder kernel("gather", a);
  const std::string x = declare_bits(kernel, of_input(0), bytes), indices = kernel.input(1),
                    y = declare_bits(kernel, of_output(0), bytes);
  kernel.value("window", w.window.size());
  std::string body = w.locate(kernel, "g", indices, "i / window");
  body += "    const bool there = gfrom >= 0;\n" +
          w.inside(kernel, "g", "gfrom", "gto", "i % window") + "    " + y + "[gto] = there ? " +
          x + "[gfrom] : 0;\n";
  out.steps.push_back(kernel.for_each(n, body));
  return out;
}

}  // namespace

extern const Twin gather_twin = {&gather_p, make_gather};

}  // namespace spruce::cuda
