// SPDX-License-Identifier: Apache-2.0
// The mean in two parts, as rules::deviations().
#include "spruce/core/rules/layer_norm.h"

#include "spruce/cuda/codegen/rows.h"

namespace spruce::cuda {
namespace {

Kernels make_layer_norm(const PrepareArgs& a) {
  Kernels out;
  KernelBuilder kernel("layer_norm", a);
  const int64_t n = a.in[0]->shape.back();
  const std::string w = kernel.input(1), b = kernel.input(2);
  kernel.number("eps", a.in[0]->dtype, a.params.get<LayerNormParams>().eps);
  kernel.value("w_step", a.in[1]->numel() == n ? 1 : 0);
  kernel.value("b_step", a.in[2]->numel() == n ? 1 : 0);
  out.steps.push_back(rows_kernel(kernel, a,
                                  R"cuda(
    sp::Sum<C> sum, rest_sum, squares;
    sum.start();
    row.each([&](sp::i64, C x) { sum.add(x, 0); });
    const C mean = row.all(sum).total / C(n);
    rest_sum.start();
    squares.start();
    row.each([&](sp::i64, C x) {
      const C d = x - mean;
      rest_sum.add(d, 0);
      squares.add(d * d, 0);
    });
    const C rest = row.all(rest_sum).total / C(n);
    C variance = row.all(squares).total / C(n) - rest * rest;
    variance = variance < C(0) ? C(0) : variance;
    const C scale = C(1) / sp::sqrt(variance + eps);
    if (there) {
      row.each([&](sp::i64 k, C x) {
        to[k] = sp::narrow<T>((x - mean - rest) * scale * sp::widen()cuda" +
                                      w + R"cuda([k * w_step]) + sp::widen()cuda" + b +
                                      R"cuda([k * b_step]));
      });
    }
)cuda"));
  return out;
}

}  // namespace

extern const Twin layer_norm_twin = {&layer_norm_p, make_layer_norm};

}  // namespace spruce::cuda
