// SPDX-License-Identifier: Apache-2.0
// The lower triangular l with l l' = a, from what stands on and below the diagonal of a.
#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitives/linalg/parts.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce {
namespace {

Aval cholesky_shape(const ShapeArgs& a) { return rules::square_of(a, 0); }

// With dl = l x: x + x' = l^-1 da l'^-1, and x is lower triangular.
void cholesky_jvp(const JvpArgs& a) {
  const Array l = bind1(a.p, a.in);
  const TriangularSolveParams lower{.lower = true}, transposed{.lower = true, .transpose = true};
  const Array half = rules::triangular_solve(l, rules::mirrored(a.tangents[0]), lower);
  a.out[0] = l;
  a.out_tangents[0] =
      matmul(l, rules::lower_half(rules::triangular_solve_right(l, half, transposed)));
}

double cholesky_flops(const PrepareArgs& a) {
  const double n = static_cast<double>(a.in[0]->shape.back());
  return static_cast<double>(a.in[0]->shape.numel()) * n / 3;
}

std::vector<Sample> cholesky_samples() {
  return {rules::matrix_sample({1, 1}, {2.25}),
          rules::matrix_sample({2, 2}, {4, 9, 1, 3}),
          rules::matrix_sample({3, 3}, {2.5, 0.5, -0.25, 0.5, 1.75, 0.125, -0.25, 0.125, 3}),
          rules::matrix_sample({2, 2, 2}, {1.5, 0.25, 0.25, 1, 2, -0.5, -0.5, 1.25}),
          rules::matrix_sample({2, 0, 0}, {}),
          rules::matrix_sample({0, 2, 2}, {})};
}

}  // namespace

extern constinit const Primitive cholesky_p = {
    .name = "cholesky",
    .public_name = "linalg::cholesky",
    .shape = cholesky_shape,
    .cpu = cpu::cholesky_kernel,
    .jvp = cholesky_jvp,
    .batch = rules::batch_matrices,
    .samples = cholesky_samples,
    .prepare = cpu::prepare_with_workspace<cpu::cholesky_kernel, cpu::cholesky_workspace>,
    .flops = cholesky_flops,
};

}  // namespace spruce
