// SPDX-License-Identifier: Apache-2.0
// a = p l u with a unit lower l, an upper u and a permutation of the rows p, which puts the largest
// element of what is left of a column in its diagonal. Outputs: l (below the diagonal) and u in one
// matrix; the row that each was exchanged with, i32[..., min(m, n)]; and which row of a each row of
// l u is, i32[..., m].
#include <algorithm>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/primitives/linalg/parts.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

std::vector<Aval> lu_shapes(const ShapeArgs& a) {
  const Aval& x = rules::matrix_of(a, 0);
  const int64_t m = x.shape[x.shape.rank() - 2], n = x.shape.back();
  if (m > INT32_MAX) {
    throw ShapeError(std::string(a.op) + ": rows are counted in i32, got " + to_string(x));
  }
  Shape pivots = x.shape, permutation = x.shape;
  pivots.erase(pivots.rank() - 1), permutation.erase(permutation.rank() - 1);
  pivots.back() = std::min(m, n);
  return {x, Aval{Dtype::kInt32, false, pivots}, Aval{Dtype::kInt32, false, permutation}};
}

// The first rows and columns of x [..., m, n], zeros where it has none: f[..., size, size].
Array corner(const Array& x, int64_t size) {
  Array y = x;
  for (int axis = x.rank() - 2; axis < x.rank(); ++axis) {
    const int64_t has = x.shape()[axis];
    y = has > size ? rules::slice_axis(y, axis, 0, size) : rules::pad_axis(y, axis, 0, size - has);
  }
  return y;
}

// With x = l^-1 p' da u^-1: dl is l times what stands below the diagonal of x, du what else there
// is of x times u. Where a is not square, the factor that is smaller than it goes on as the
// identity.
void lu_jvp(const JvpArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in);
  for (size_t k = 0; k < 3; ++k) a.out[k] = out[k];
  const Array& lu = out[0];
  const int rank = lu.rank();
  const int64_t m = lu.shape()[rank - 2], n = lu.shape().back(), k = std::min(m, n);
  const Array low = rules::strictly_lower(corner(lu, m)), l = low + internal::identity_like(low);
  Array u = triu(corner(lu, n));
  if (m < n) {
    const Array ones = internal::identity_like(u);
    u = u + rules::pad_axis(rules::slice_axis(ones, 0, k, n), 0, k, 0);
  }
  const Array da = take_along_axis(a.tangents[0], expand_dims(out[2], -1), -2);
  const Array x = rules::triangular_solve_right(
      u, rules::triangular_solve(low, da, {.lower = true, .unit_diagonal = true}), {});
  a.out_tangents[0] = matmul(l, rules::strictly_lower(x)) + matmul(triu(x), u);
}

double lu_flops(const PrepareArgs& a) {
  const rules::MatrixBatch s(a.in[0]->shape);
  const double m = static_cast<double>(s.rows), n = static_cast<double>(s.columns);
  const double k = std::min(m, n), each = m * n * k - (m + n) * k * k / 2 + k * k * k / 3;
  return 2 * each * static_cast<double>(s.count);
}

std::vector<Sample> lu_samples() {
  return {rules::matrix_sample({1, 1}, {-2.25}),
          rules::matrix_sample({2, 2}, {0.5, 2, -3, 1}),
          rules::matrix_sample({3, 3}, {0.5, 0.25, -1, 2, 1.5, 0.125, -1, 0.75, 3}),
          rules::matrix_sample({4, 2}, {0.25, 1, -2, 0.5, 1, 3, 0.5, -0.25}),
          rules::matrix_sample({2, 3}, {0.5, -1, 2, 1.5, 0.75, -0.25}),
          rules::matrix_sample({2, 2, 2}, {1.5, 0.25, 0.5, 1, 0.25, -0.5, 2, 1.25}),
          rules::matrix_sample({2, 0, 3}, {}),
          rules::matrix_sample({0, 2, 2}, {})};
}

}  // namespace

extern constinit const Primitive lu_p = {
    .name = "lu",
    .public_name = "linalg::lu_factor",
    .shapes = lu_shapes,
    .cpu = cpu::lu_kernel,
    .jvp = lu_jvp,
    .batch = rules::batch_matrices,
    .samples = lu_samples,
    .prepare = cpu::prepare_with_workspace<cpu::lu_kernel, cpu::lu_workspace>,
    .flops = lu_flops,
};

}  // namespace spruce
