// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/draws.h"

namespace spruce::cuda {
namespace {

Kernels make_random_split(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel() / 2;
  if (n == 0) return out;
  KernelBuilder kernel("random_split", a);
  kernel.front(special_prelude());
  kernel.front(random_prelude());
  const std::string keys = kernel.input(0), y = kernel.output(0);
  out.steps.push_back(kernel.for_each(
      n,
      "    const sp::Words w = " + words_at(kernel, keys, n, a.params.get<RandomSplitParams>().n) +
          ";\n    " + y + "[2 * i] = w.first;\n    " + y + "[2 * i + 1] = w.second;\n"));
  return out;
}

}  // namespace

extern const Twin random_split_twin = {&random_split_p, make_random_split};

}  // namespace spruce::cuda
