// SPDX-License-Identifier: Apache-2.0
// The solution of triangular systems (see TriangularSolveParams).
#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitives/linalg/parts.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval triangular_solve_shape(const ShapeArgs& a) {
  const Aval &x = rules::square_of(a, 0), &b = rules::matrix_of(a, 1);
  if (x.dtype != b.dtype) {
    throw DtypeError(std::string(a.op) + ": the dtypes differ: " + to_string(x) + ", " +
                     to_string(b) + "; convert one with astype");
  }
  bool fits = x.shape.rank() == b.shape.rank();
  for (int i = 0; fits && i < b.shape.rank() - 1; ++i) fits = x.shape[i] == b.shape[i];
  if (!fits) {
    throw ShapeError(std::string(a.op) +
                     ": takes a triangular f[..., n, n] and f[..., n, k], got " + to_string(x) +
                     " and " + to_string(b));
  }
  return b;
}

// Of a: what is read.
Array triangle_read(const Array& a, const TriangularSolveParams& p) {
  const int64_t offset = p.unit_diagonal ? 1 : 0;
  return p.lower ? tril(a, -offset) : triu(a, offset);
}

// op(a) dx = db - op(da) x.
void triangular_solve_jvp(const JvpArgs& a) {
  const auto& p = a.params.get<TriangularSolveParams>();
  const Array x = bind1(a.p, a.in, a.params);
  a.out[0] = x;
  Array right = a.tangents[1];
  if (a.tangents[0].defined()) {
    const Array da = triangle_read(a.tangents[0], p);
    right = rules::add_tangents(right, -matmul(p.transpose ? rules::transposed(da) : da, x));
  }
  a.out_tangents[0] = bind1(a.p, {a.in[0], right}, a.params);
}

void triangular_solve_transpose(const TransposeArgs& a) {
  TriangularSolveParams p = a.params.get<TriangularSolveParams>();
  p.transpose = !p.transpose;
  a.out[1] = rules::triangular_solve(a.in[0], a.cts[0], p);
}

// One matrix for all: their right sides stand side by side.
void triangular_solve_batch(const BatchArgs& a) {
  if (a.batched[0] || a.in[0].rank() > 2) {
    rules::batch_matrices(a);
    return;
  }
  const int64_t n = a.in[1].shape()[1], k = a.in[1].shape()[2];
  const Array right = rules::reshaped(rules::transpose_axes(a.in[1], {1, 0, 2}), {n, a.size * k});
  const Array x = bind1(a.p, {a.in[0], right}, a.params);
  a.out[0] = rules::transpose_axes(rules::reshaped(x, {n, a.size, k}), {1, 0, 2});
}

double triangular_solve_flops(const PrepareArgs& a) {
  return static_cast<double>(a.in[1]->shape.numel()) * static_cast<double>(a.in[0]->shape.back());
}

std::vector<Sample> triangular_solve_samples() {
  const auto sample = [](const Shape& batch, int64_t n, int64_t k, TriangularSolveParams p) {
    Sample s;
    s.in.resize(2);
    Shape square = batch, right = batch;
    square.push_back(n), square.push_back(n), right.push_back(n), right.push_back(k);
    s.in[0].aval = Aval{Dtype::kFloat32, false, square};
    for (int64_t i = 0; i < square.numel(); ++i) {
      const int64_t at = n == 0 ? 0 : i % (n * n);
      s.in[0].values.push_back(at / n == at % n ? 1.5 + 0.25 * static_cast<double>(i % 5)
                                                : 0.125 * static_cast<double>(i % 7) - 0.5);
    }
    s.in[1].aval = Aval{Dtype::kFloat32, false, right};
    s.params = Params::make(p);
    return s;
  };
  return {sample({}, 1, 1, {}),
          sample({}, 3, 2, {}),
          sample({}, 3, 1, {.lower = true}),
          sample({}, 4, 9, {.transpose = true}),
          sample({}, 4, 3, {.lower = true, .transpose = true}),
          sample({2}, 3, 10, {.lower = true, .unit_diagonal = true}),
          sample({2, 1}, 2, 2, {.transpose = true, .unit_diagonal = true}),
          sample({}, 0, 2, {}),
          sample({}, 2, 0, {}),
          sample({0}, 2, 2, {})};
}

}  // namespace

extern constinit const Primitive triangular_solve_p = {
    .name = "triangular_solve",
    .public_name = "linalg::solve_triangular",
    .shape = triangular_solve_shape,
    .cpu = cpu::triangular_solve_kernel,
    .jvp = triangular_solve_jvp,
    .transpose = triangular_solve_transpose,
    .batch = triangular_solve_batch,
    .samples = triangular_solve_samples,
    .params = kParamsOf<TriangularSolveParams>,
    .prepare =
        cpu::prepare_with_workspace<cpu::triangular_solve_kernel, cpu::triangular_solve_workspace>,
    .flops = triangular_solve_flops,
};

}  // namespace spruce
