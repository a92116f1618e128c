// SPDX-License-Identifier: Apache-2.0
// The eigenvalues w of symmetric matrices, rising, and their eigenvectors v as columns: a v = v
// diag(w), from what stands on and below the diagonal of a (see EighParams).
#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/ops/decompositions.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/linalg/parts.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

std::vector<Aval> eigh_shapes(const ShapeArgs& a) {
  const Aval& x = rules::square_of(a, 0);
  Aval values = x;
  values.shape.erase(values.shape.rank() - 1);
  if (!a.params.get<EighParams>().vectors) return {values};
  return {values, x};
}

// With x = v' da v: dw is the diagonal of x, and dv = v y with y[i, j] = x[i, j] / (w[j] - w[i]),
// zeros on the diagonal. Not finite where two eigenvalues are the same.
void eigh_jvp(const JvpArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in, Params::make(EighParams{}));
  const Array &w = out[0], &v = out[1];
  const Array x = matmul(rules::transposed(v), matmul(rules::mirrored(a.tangents[0]), v));
  a.out[0] = w;
  a.out_tangents[0] = linalg::diagonal(x);
  if (!a.params.get<EighParams>().vectors) return;
  a.out[1] = v;
  const Array ones = internal::identity_like(x);
  const Array between = expand_dims(w, -2) - expand_dims(w, -1) + ones;
  a.out_tangents[1] = matmul(v, (rules::scalar_like(1, x) / between - ones) * x);
}

double eigh_flops(const PrepareArgs& a) {
  return (a.params.get<EighParams>().vectors ? 9 : 1.5) *
         static_cast<double>(a.in[0]->shape.numel()) * static_cast<double>(a.in[0]->shape.back());
}

std::vector<Sample> eigh_samples() {
  const auto sample = [](const Shape& shape, std::vector<double> values, bool vectors = true) {
    return rules::matrix_sample(shape, std::move(values), Params::make(EighParams{vectors}));
  };
  return {sample({1, 1}, {-2.25}),
          sample({2, 2}, {1, 9, 0.5, 3}),
          sample({3, 3}, {2.5, 0.5, -0.25, 0.5, -1.75, 0.125, -0.25, 0.125, 0.5}),
          sample({3, 3}, {2.5, 0.5, -0.25, 0.5, -1.75, 0.125, -0.25, 0.125, 0.5}, false),
          sample({2, 2, 2}, {1.5, 0.25, 0.25, -1, 2, -0.5, -0.5, 1.25}),
          sample({2, 0, 0}, {}),
          sample({0, 2, 2}, {}, false)};
}

}  // namespace

extern constinit const Primitive eigh_p = {
    .name = "eigh",
    .public_name = "linalg::eigh",
    .shapes = eigh_shapes,
    .cpu = cpu::eigh_kernel,
    .jvp = eigh_jvp,
    .batch = rules::batch_matrices,
    .samples = eigh_samples,
    .params = kParamsOf<EighParams>,
    .prepare = cpu::prepare_with_workspace<cpu::eigh_kernel, cpu::eigh_workspace>,
    .flops = eigh_flops,
};

}  // namespace spruce
