// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/linalg/determinant.h"

#include "spruce/core/default_device.h"
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
#include "spruce/transforms/linalg/factors.h"

namespace spruce {
namespace {

using Arrays = std::vector<Array>;

Arrays factors_of(const Array& a) { return bind_all(lu_p, {a}); }

// 1 or -1: of the exchanges of rows.
Array parity(const Array& pivots, Dtype dtype) {
  const internal::SameDevice here(pivots);
  const Array own = arange(pivots.shape().back(), int32);
  const Array exchanges = count_nonzero(not_equal(pivots, own), -1);
  return 1 - 2 * astype(remainder(exchanges, 2), dtype);
}

Arrays det_of(const Arrays& f) {
  return {parity(f[1], f[0].dtype()) * prod(linalg::diagonal(f[0]), -1)};
}

Arrays slogdet_of(const Arrays& f) {
  const Array d = linalg::diagonal(f[0]);
  return {parity(f[1], d.dtype()) * prod(sign(d), -1), sum(log(abs(d)), -1)};
}

// The trace of a^-1 da.
Array relative_change(const Array& a, const Arrays& f, const Array& da) {
  return linalg::trace(internal::solve_by_lu(a, f[0], f[2], da));
}

Arrays det_rule(std::span<const Array> in) {
  const Arrays f = factors_of(in[0]);
  const Array d = det_of(f)[0];
  return {d, d * relative_change(in[0], f, in[1])};
}

Arrays slogdet_rule(std::span<const Array> in) {
  const Arrays f = factors_of(in[0]), out = slogdet_of(f);
  return {out[0], out[1], zeros_like(out[0]), relative_change(in[0], f, in[1])};
}

// Of matrices of one to three rows: the sum over permutations, whose derivatives are finite
// everywhere.
Array small_det(const Array& a) {
  const int64_t n = a.shape().back();
  Shape batch = a.shape();
  batch.erase(a.rank() - 1);
  batch.erase(a.rank() - 2);
  Shape flat = batch;
  flat.push_back(n * n);
  const Array elements = reshape(a, flat);
  const int axis = a.rank() - 2;
  std::vector<Array> e;
  for (int64_t k = 0; k < n * n; ++k)
    e.push_back(reshape(rules::slice_axis(elements, axis, k, k + 1), batch));
  if (n == 1) return e[0];
  const auto minor = [&](size_t i, size_t j) {  // of the first two rows
    const auto next = static_cast<size_t>(n);
    return e[i] * e[next + j] - e[j] * e[next + i];
  };
  if (n == 2) return minor(0, 1);
  return minor(0, 1) * e[8] - minor(0, 2) * e[7] + minor(1, 2) * e[6];
}

}  // namespace

Array linalg::DetFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::det", loc);
  internal::require_defined("linalg::det", "a", a);
  static const auto& det_by_lu =
      *new std::shared_ptr<const CustomFunction>(internal::make_custom_jvp(
          [](std::span<const Array> in) { return det_of(factors_of(in[0])); }, det_rule));
  const Array x = internal::square_matrix("linalg::det", a);
  constexpr int64_t kSmall = 3;
  const int64_t n = x.shape().back();
  if (n > 0 && n <= kSmall) return astype(small_det(astype(x, float64)), x.dtype());
  return bind_custom(det_by_lu, std::span<const Array>(&x, 1))[0];
}

linalg::SlogDet linalg::SlogdetFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::slogdet", loc);
  internal::require_defined("linalg::slogdet", "a", a);
  static const auto& slogdet_by_lu =
      *new std::shared_ptr<const CustomFunction>(internal::make_custom_jvp(
          [](std::span<const Array> in) { return slogdet_of(factors_of(in[0])); }, slogdet_rule));
  const Array x = internal::square_matrix("linalg::slogdet", a);
  const Arrays out = bind_custom(slogdet_by_lu, std::span<const Array>(&x, 1));
  return {out[0], out[1]};
}

}  // namespace spruce
