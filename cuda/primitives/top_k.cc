// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/sort.h"
#include "spruce/cuda/codegen/ordering.h"

namespace spruce::cuda {
namespace {

Kernels make_top_k(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.in[0]->shape.back(), k = a.params.get<TopKParams>().k;
  if (a.out[0]->numel() == 0) return out;
  const int64_t rows = a.in[0]->numel() / n;
  Ordering ordering{rows, n, k, nullptr, nullptr};
  const bool narrow = size_of(a.in[0]->dtype) <= 4;
  (narrow ? ordering.key : ordering.before) = [&](KernelBuilder& kernel) -> std::string {
    const std::string x = kernel.input(0) + "[row * n + ";
    if (narrow) return "    return ~sp::ordered_key32(" + x + "a]);\n";
    return "    return sp::ordered_key(" + x + "b]) < sp::ordered_key(" + x + "a]);\n";
  };
  const Ordered order = ordering_kernels(a, ordering, out);
  KernelBuilder kernel("top_k", a);
  kernel.front(ordered_key_text());
  kernel.workspace(order.type, "order", order.offset);
  kernel.value("stride", order.stride);
  kernel.value("n", n);
  kernel.value("k", k);
  out.steps.push_back(kernel.for_each(
      rows * k,
      "    const sp::i64 row = i / k, at = sp::position_of(order[row * stride + i % k]);\n    " +
          kernel.output(0) + "[i] = " + kernel.input(0) + "[row * n + at];\n    " +
          kernel.output(1) + "[i] = " + std::string(text_type(a.out[1]->dtype)) + "(at);\n"));
  return out;
}

}  // namespace

extern const Twin top_k_twin = {&top_k_p, make_top_k};

}  // namespace spruce::cuda
