// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {
namespace {

Kernels make_random_fold_in(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.in[1]->numel();
  if (n == 0) return out;
  KernelBuilder kernel("random_fold_in", a);
  kernel.front(special_prelude());
  kernel.front(random_prelude());
  const std::string keys = kernel.input(0), data = kernel.input(1), y = kernel.output(0);
  out.steps.push_back(kernel.for_each(
      n, "    const sp::Words w = sp::threefry(sp::key_at(" + keys + ", i), " + data +
             "[i]);\n    " + y + "[2 * i] = w.first;\n    " + y + "[2 * i + 1] = w.second;\n"));
  return out;
}

}  // namespace

extern const Twin random_fold_in_twin = {&random_fold_in_p, make_random_fold_in};

}  // namespace spruce::cuda
