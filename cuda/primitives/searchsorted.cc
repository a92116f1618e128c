// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/sort.h"
#include "spruce/cuda/codegen/ordering.h"

namespace spruce::cuda {
namespace {

Kernels make_searchsorted(const PrepareArgs& a) {
  Kernels out;
  const int64_t queries = a.out[0]->numel(), n = a.in[0]->shape.back();
  if (queries == 0) return out;
  const int64_t rows = n == 0 ? 1 : a.in[0]->numel() / n;
  KernelBuilder kernel("searchsorted", a);
  kernel.front(ordered_key_text());
  const std::string x = kernel.input(0), q = kernel.input(1), y = kernel.output(0);
  kernel.value("n", n);
  kernel.value("per_row", queries / rows);
  const bool right = a.params.get<SearchSortedParams>().right;
  out.steps.push_back(
      kernel.for_each(queries,
                      "    const sp::i64 row = i / per_row * n;\n"
                      "    const sp::u64 query = sp::ordered_key(" +
                          q +
                          "[i]);\n"
                          "    sp::i64 low = 0, high = n;\n    while (low < high) {\n"
                          "      const sp::i64 middle = low + (high - low) / 2;\n"
                          "      const sp::u64 at = sp::ordered_key(" +
                          x + "[row + middle]);\n      if (at " + (right ? "<=" : "<") +
                          " query) low = middle + 1;\n      else high = middle;\n    }\n    " + y +
                          "[i] = " + std::string(text_type(a.out[0]->dtype)) + "(low);\n"));
  return out;
}

}  // namespace

extern const Twin searchsorted_twin = {&searchsorted_p, make_searchsorted};

}  // namespace spruce::cuda
