// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/draws.h"

namespace spruce::cuda {
namespace {

Kernels make_random_bits(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  KernelBuilder kernel("random_bits", a);
  kernel.front(special_prelude());
  kernel.front(random_prelude());
  const std::string keys = kernel.input(0), y = kernel.output(0);
  const std::string type(text_type(a.out[0]->dtype));
  const bool wide = size_of(a.out[0]->dtype) == 8;
  out.steps.push_back(kernel.for_each(
      n, "    const sp::Words w = " +
             words_at(kernel, keys, n, a.params.get<RandomBitsParams>().shape.numel()) + ";\n    " +
             y + "[i] = " + type +
             (wide ? "(sp::u64(w.first) << 32 | w.second);\n" : "(w.first ^ w.second);\n")));
  return out;
}

}  // namespace

extern const Twin random_bits_twin = {&random_bits_p, make_random_bits};

}  // namespace spruce::cuda
