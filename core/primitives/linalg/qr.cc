// SPDX-License-Identifier: Apache-2.0
// a = q r: orthonormal columns and an upper triangular matrix (see QrParams). As in LAPACK, the
// diagonal of r may have any signs.
#include <algorithm>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitives/linalg/parts.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

std::vector<Aval> qr_shapes(const ShapeArgs& a) {
  const Aval& x = rules::matrix_of(a, 0);
  const int64_t m = x.shape[x.shape.rank() - 2], n = x.shape.back();
  const int64_t k = a.params.get<QrParams>().full ? m : std::min(m, n);
  return {rules::matrices(a, m, k), rules::matrices(a, k, n)};
}

// With x = q' da r^-1 of the first columns, as many as q has: q' dq is the antisymmetric matrix of
// what stands below the diagonal of x. Columns behind these follow from r = q' a.
void qr_jvp(const JvpArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in, a.params);
  const Array &q = out[0], &r = out[1], &da = a.tangents[0];
  a.out[0] = q, a.out[1] = r;
  const int columns = q.rank() - 1;
  const int64_t k = q.shape().back(), n = r.shape().back();
  if (k > n) {
    throw DerivativeError(
        "linalg::qr: columns of q that are orthogonal to all of a matrix, here " +
        to_string(a.in[0].aval()) +
        ", are not determined by it, so they have no derivative; leave out .mode = \"complete\"");
  }
  const Array first = rules::slice_axis(da, columns, 0, k),
              r1 = rules::slice_axis(r, columns, 0, k);
  const Array right = rules::triangular_solve_right(r1, first, {});
  const Array x = matmul(rules::transposed(q), right), low = rules::strictly_lower(x);
  const Array turn = low - rules::transposed(low);
  const Array dq = matmul(q, turn - x) + right, dr1 = matmul(x - turn, r1);
  a.out_tangents[0] = dq;
  if (k == n) {
    a.out_tangents[1] = dr1;
    return;
  }
  const Array rest = matmul(rules::transposed(dq), rules::slice_axis(a.in[0], columns, k, n)) +
                     matmul(rules::transposed(q), rules::slice_axis(da, columns, k, n));
  a.out_tangents[1] = rules::concatenate_axis(std::vector<Array>{dr1, rest}, columns);
}

double qr_flops(const PrepareArgs& a) {
  const rules::MatrixBatch s(a.in[0]->shape);
  const double m = static_cast<double>(s.rows), n = static_cast<double>(s.columns);
  return 4 * static_cast<double>(s.count) * m * n * std::min(m, n);
}

std::vector<Sample> qr_samples() {
  const auto sample = [](const Shape& shape, std::vector<double> values, bool full = false) {
    return rules::matrix_sample(shape, std::move(values), Params::make(QrParams{full}));
  };
  return {sample({1, 1}, {-2.25}),
          sample({2, 2}, {0.5, 2, -3, 1}),
          sample({3, 3}, {0.5, 0.25, -1, 2, 1.5, 0.125, -1, 0.75, 3}, true),
          sample({4, 2}, {0.25, 1, -2, 0.5, 1, 3, 0.5, -0.25}),
          sample({2, 3}, {0.5, -1, 2, 1.5, 0.75, -0.25}),
          sample({2, 4}, {0.5, -1, 2, 0.25, 1.5, 0.75, -0.25, 1}, true),
          sample({2, 2, 2}, {1.5, 0.25, 0.5, 1, 0.25, -0.5, 2, 1.25}),
          sample({2, 0, 3}, {}),
          sample({0, 2, 2}, {})};
}

}  // namespace

extern constinit const Primitive qr_p = {
    .name = "qr",
    .public_name = "linalg::qr",
    .shapes = qr_shapes,
    .cpu = cpu::qr_kernel,
    .jvp = qr_jvp,
    .batch = rules::batch_matrices,
    .samples = qr_samples,
    .params = kParamsOf<QrParams>,
    .prepare = cpu::prepare_with_workspace<cpu::qr_kernel, cpu::qr_workspace>,
    .flops = qr_flops,
};

}  // namespace spruce
