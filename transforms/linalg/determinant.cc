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

}  // namespace

Array linalg::DetFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::det", loc);
  internal::require_defined("linalg::det", "a", a);
  static const auto& det_by_lu =
      *new std::shared_ptr<const CustomFunction>(internal::make_custom_jvp(
          [](std::span<const Array> in) { return det_of(factors_of(in[0])); }, det_rule));
  const Array x = internal::square_matrix("linalg::det", a);
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
