// SPDX-License-Identifier: Apache-2.0
// a = u diag(s) v' with orthonormal columns of u and v, and s >= 0 falling (see SvdParams).
#include <algorithm>

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

std::vector<Aval> svd_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<SvdParams>();
  const Aval& x = rules::matrix_of(a, 0);
  const int64_t m = x.shape[x.shape.rank() - 2], n = x.shape.back(), k = std::min(m, n);
  Aval s = x;
  s.shape.erase(s.shape.rank() - 1);
  s.shape.back() = k;
  if (!p.vectors) return {s};
  return {rules::matrices(a, m, p.full ? m : k), s, rules::matrices(a, p.full ? n : k, n)};
}

// With x = u' da v: ds is the diagonal of x. With f[i, j] = 1 / (s[j]^2 - s[i]^2), zeros on its
// diagonal: u' du = f (x s + s x'), v' dv = f (s x + x' s). What da adds to u or v outside of the
// space of their columns comes from the larger of the two.
void svd_jvp(const JvpArgs& a) {
  const auto& p = a.params.get<SvdParams>();
  const Array &in = a.in[0], &da = a.tangents[0];
  const int64_t m = in.shape()[in.rank() - 2], n = in.shape().back();
  if (p.vectors && p.full && m != n) {
    throw DerivativeError(
        "linalg::svd: singular vectors that belong to no singular value, here of " +
        to_string(in.aval()) +
        ", are not determined by it, so they have no derivative; give "
        ".full_matrices = false");
  }
  const std::vector<Array> out = bind_all(a.p, a.in, Params::make(SvdParams{.vectors = true}));
  const Array &u = out[0], &s = out[1], &vt = out[2];
  const Array ut = rules::transposed(u), v = rules::transposed(vt);
  const Array x = matmul(matmul(ut, da), v);
  const Array ds = linalg::diagonal(x);
  if (!p.vectors) {
    a.out[0] = s;
    a.out_tangents[0] = ds;
    return;
  }
  const Array row = expand_dims(s, -2), column = expand_dims(s, -1),
              ones = internal::identity_like(x);
  const Array between = (row + column) * (row - column) + ones;
  const Array f = rules::scalar_like(1, x) / between - ones;
  const Array xs = x * row, sx = column * x;
  Array du = matmul(u, f * (xs + rules::transposed(xs)));
  Array dv = matmul(v, f * (sx + rules::transposed(sx)));
  if (m > n) {
    const Array dav = matmul(da, v);
    du = du + (dav - matmul(u, matmul(ut, dav))) / row;
  }
  if (n > m) {
    const Array dau = matmul(rules::transposed(da), u);
    dv = dv + (dau - matmul(v, matmul(vt, dau))) / row;
  }
  for (size_t k = 0; k < 3; ++k) a.out[k] = out[k];
  a.out_tangents[0] = du;
  a.out_tangents[1] = ds;
  a.out_tangents[2] = rules::transposed(dv);
}

double svd_flops(const PrepareArgs& a) {
  const rules::MatrixBatch s(a.in[0]->shape);
  const double m = static_cast<double>(s.rows), n = static_cast<double>(s.columns);
  return 22 * static_cast<double>(s.count) * m * n * std::min(m, n);
}

std::vector<Sample> svd_samples() {
  const auto sample = [](const Shape& shape, std::vector<double> values, SvdParams p) {
    return rules::matrix_sample(shape, std::move(values), Params::make(p));
  };
  const SvdParams none, some{.vectors = true}, full{.full = true, .vectors = true};
  return {sample({1, 1}, {-2.25}, some),
          sample({2, 2}, {0.5, 2, -3, 1}, some),
          sample({3, 3}, {0.5, 0.25, -1, 2, 1.5, 0.125, -1, 0.75, 3}, full),
          sample({4, 2}, {0.25, 1, -2, 0.5, 1, 3, 0.5, -0.25}, some),
          sample({2, 3}, {0.5, -1, 2, 1.5, 0.75, -0.25}, some),
          sample({2, 3}, {0.5, -1, 2, 1.5, 0.75, -0.25}, none),
          sample({2, 2, 2}, {1.5, 0.25, 0.5, 1, 0.25, -0.5, 2, 1.25}, some),
          sample({2, 0, 3}, {}, some),
          sample({0, 2, 2}, {}, none)};
}

}  // namespace

extern constinit const Primitive svd_p = {
    .name = "svd",
    .public_name = "linalg::svd",
    .shapes = svd_shapes,
    .cpu = cpu::svd_kernel,
    .jvp = svd_jvp,
    .batch = rules::batch_matrices,
    .samples = svd_samples,
    .params = kParamsOf<SvdParams>,
    .prepare = cpu::prepare_with_workspace<cpu::svd_kernel, cpu::svd_workspace>,
    .flops = svd_flops,
};

}  // namespace spruce
