// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/linalg/least_squares.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/derive/custom.h"

namespace spruce {
namespace {

using Arrays = std::vector<Array>;
using linalg::RankOptions;
using rules::transposed;

// What follows from one singular value decomposition.
struct BySvd {
  Array inverse;  // f[..., n, m]
  Array s;        // f[..., k], without a derivative
};

BySvd pseudo_inverse(const Array& a, const RankOptions& options, double factor);

Arrays by_svd(const Array& a, const RankOptions& options, double factor) {
  const linalg::Svd d = linalg::svd(a, {.full_matrices = false});
  const Array counts = internal::above_rtol(a, d.s, options, factor);
  const Array inverse = where(counts, 1 / where(counts, d.s, 1), 0);
  return {matmul(transposed(d.vh) * expand_dims(inverse, -2), transposed(d.u)), d.s};
}

// With p the pseudo-inverse: dp = -p da p + p p' da' (1 - a p) + (1 - p a) da' p' p.
Arrays by_svd_rule(const Array& a, const BySvd& out, const Array& da) {
  const Array& p = out.inverse;
  const Array pt = transposed(p), dat = transposed(da);
  const Array left = matmul(matmul(p, pt), dat), right = matmul(dat, matmul(pt, p));
  const Array dp = left - matmul(matmul(left, a), p) + right - matmul(p, matmul(a, right)) -
                   matmul(matmul(p, da), p);
  return {p, out.s, dp, zeros_like(out.s)};
}

BySvd pseudo_inverse(const Array& a, const RankOptions& options, double factor) {
  const auto f = internal::make_custom_jvp(
      [options, factor](std::span<const Array> in) { return by_svd(in[0], options, factor); },
      [options, factor](std::span<const Array> in) {
        return by_svd_rule(in[0], pseudo_inverse(in[0], options, factor), in[1]);
      });
  const Arrays out = bind_custom(f, std::span<const Array>(&a, 1));
  return {out[0], out[1]};
}

}  // namespace

Array linalg::PinvFunction::operator()(const Array& a, const RankOptions& options, Loc loc) const {
  const OpScope at("linalg::pinv", loc);
  internal::require_defined("linalg::pinv", "a", a);
  return pseudo_inverse(internal::floating_matrix("linalg::pinv", a), options, 10).inverse;
}

linalg::LeastSquares linalg::LstsqFunction::operator()(const Array& a, const Array& b,
                                                       const RankOptions& options, Loc loc) const {
  const OpScope at("linalg::lstsq", loc);
  internal::require_defined("linalg::lstsq", "a", a, "b", b);
  Array x = internal::floating_matrix("linalg::lstsq", a);
  const bool vector = b.rank() == 1;
  if (b.rank() == 0 || b.shape()[vector ? 0 : b.rank() - 2] != a.shape()[a.rank() - 2]) {
    throw ShapeError("linalg::lstsq: takes a, f[..., m, n], and b, f[m] or f[..., m, k], got " +
                     to_string(a.aval()) + " and " + to_string(b.aval()) +
                     "; give b the rows of a");
  }
  const Dtype dtype = promote(x.dtype(), x.weak(), b.dtype(), b.weak());
  x = rules::convert(x, dtype);
  const Array right = rules::convert(vector ? expand_dims(b, -1) : b, dtype);
  const auto [inverse, s] = pseudo_inverse(x, options, 1);
  const Array y = matmul(inverse, right);
  const Array over = right - matmul(x, y), residuals = sum(over * over, -2);
  const Array rank = count_nonzero(internal::above_rtol(x, s, options, 1), -1);
  return {vector ? squeeze(y, -1) : y, vector ? squeeze(residuals, -1) : residuals, rank, s};
}

}  // namespace spruce
