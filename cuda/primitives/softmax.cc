// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/norm.h"
#include "spruce/cuda/codegen/rows.h"

namespace spruce {
extern const Primitive softmax_p;
}

namespace spruce::cuda {
namespace {

Kernels make_softmax(const PrepareArgs& a) {
  Kernels out;
  KernelBuilder kernel("softmax", a);
  out.steps.push_back(rows_kernel(kernel, a, R"cuda(
    sp::Largest<C> top;
    top.start();
    row.each([&](sp::i64, C x) { top.add(x, 0); });
    const C m = row.all(top).best;
    sp::Sum<C> sum;
    sum.start();
    row.each([&](sp::i64, C x) { sum.add(sp::exp(x - m), 0); });
    const C scale = C(1) / row.all(sum).total;
    if (there) row.each([&](sp::i64 k, C x) { to[k] = sp::narrow<T>(sp::exp(x - m) * scale); });
)cuda"));
  return out;
}

}  // namespace

extern const Twin softmax_twin = {&softmax_p, make_softmax};

}  // namespace spruce::cuda
