// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/decompositions.h"

#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {

void check_matrix(const char* op, const Aval& x) {
  if (x.shape.rank() >= 2) return;
  throw ShapeError(std::string(op) + ": takes matrices, f[..., m, n], got " + to_string(x) +
                   "; give it a second axis with expand_dims or reshape");
}

void check_square(const char* op, const Aval& x, const char* advice) {
  check_matrix(op, x);
  if (x.shape.back() == x.shape[x.shape.rank() - 2]) return;
  throw ShapeError(std::string(op) + ": takes square matrices, f[..., n, n], got " + to_string(x) +
                   advice);
}

const Aval& matrix_of(const ShapeArgs& a, size_t i) {
  const Aval& x = *a.in[i];
  check_matrix(a.op, x);
  if (!is_floating(x.dtype)) {
    throw DtypeError(std::string(a.op) + ": takes floating numbers, got " + to_string(x) +
                     "; convert with astype");
  }
  return x;
}

const Aval& square_of(const ShapeArgs& a, size_t i) {
  check_square(a.op, *a.in[i]);
  return matrix_of(a, i);
}

Aval matrices(const ShapeArgs& a, int64_t rows, int64_t columns) {
  Aval out = *a.in[0];
  out.shape[out.shape.rank() - 2] = rows;
  out.shape.back() = columns;
  check_shape(a.op, out.shape, size_of(out.dtype));
  return out;
}

void batch_matrices(const BatchArgs& a) {
  std::vector<Array> in;
  for (size_t i = 0; i < a.in.size(); ++i)
    in.push_back(materialize_batch(a.in[i], a.batched[i], a.size));
  const std::vector<Array> out = bind_all(a.p, in, a.params);
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

Array transposed(const Array& x) {
  Axes perm;
  for (int i = 0; i < x.rank() - 2; ++i) perm.push_back(i);
  perm.push_back(x.rank() - 1);
  perm.push_back(x.rank() - 2);
  return transpose_axes(x, perm);
}

Array triangular_solve(const Array& a, const Array& b, const TriangularSolveParams& params) {
  return bind1(triangular_solve_p, {a, b}, Params::make(params));
}

Array triangular_solve_right(const Array& a, const Array& b, const TriangularSolveParams& params) {
  TriangularSolveParams turned = params;
  turned.transpose = !params.transpose;
  return transposed(triangular_solve(a, transposed(b), turned));
}

}  // namespace spruce::rules
