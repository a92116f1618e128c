// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/sort.h"

#include "spruce/cuda/codegen/ordering.h"

namespace spruce::cuda {
namespace {

Kernels make_sort(const PrepareArgs& a) {
  Kernels out;
  const auto& p = a.params.get<SortParams>();
  const Shape& shape = a.in[0]->shape;
  if (shape.numel() == 0) return out;
  const int64_t n = shape[p.axis], inner = row_major_strides(shape)[p.axis],
                rows = shape.numel() / n;
  const auto base = [&](KernelBuilder& kernel) -> std::string {
    kernel.value("inner", inner);
    return "    const sp::i64 begin = row / inner * inner * n + row % inner;\n";
  };
  Ordering ordering{rows, n, n, nullptr, nullptr};
  if (p.num_keys == 1 && size_of(a.in[0]->dtype) <= 4) {
    ordering.key = [&](KernelBuilder& kernel) {
      const std::string begin = base(kernel);
      return begin + "    return sp::ordered_key32(" + kernel.input(0) + "[begin + a * inner]);\n";
    };
  } else {
    ordering.before = [&](KernelBuilder& kernel) {
      std::string text = base(kernel);
      for (int64_t k = 0; k < p.num_keys; ++k) {
        const std::string x = kernel.input(static_cast<size_t>(k));
        text += "    {\n      const sp::u64 ka = sp::ordered_key(" + x +
                "[begin + a * inner]), kb = sp::ordered_key(" + x +
                "[begin + b * inner]);\n      if (ka != kb) return ka < kb;\n    }\n";
      }
      return text + "    return false;\n";
    };
  }
  const Ordered order = ordering_kernels(a, ordering, out);
  KernelBuilder kernel("take_in_order", a);
  kernel.front(ordered_key_text());
  kernel.workspace(order.type, "order", order.offset);
  kernel.value("stride", order.stride);
  kernel.value("n", n);
  std::string body = "    const sp::i64 row = i / n, k = i % n;\n" + base(kernel);
  body +=
      "    const sp::i64 from = begin + sp::position_of(order[row * stride + k]) * inner, "
      "to = begin + k * inner;\n";
  for (size_t i = 0; i < a.in.size(); ++i)
    body += "    " + kernel.output(i) + "[to] = " + kernel.input(i) + "[from];\n";
  out.steps.push_back(kernel.for_each(shape.numel(), body));
  return out;
}

}  // namespace

extern const Twin sort_twin = {&sort_p, make_sort};

}  // namespace spruce::cuda
