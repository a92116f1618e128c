// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/linalg/solve.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/transforms/implicit/linear_solve.h"
#include "spruce/transforms/linalg/factors.h"

namespace spruce {

using internal::FlatBody;
using internal::LinearSystem;

namespace {

// The x [..., n, k] with a x = b, or a' x = b, where a has these factors.
Array solve_by_factors(const Array& lu, const Array& permutation, const Array& b, bool transpose) {
  const TriangularSolveParams lower{.lower = true, .transpose = transpose, .unit_diagonal = true},
      upper{.transpose = transpose};
  const Array order = expand_dims(permutation, -1);
  if (!transpose) {
    const Array rows = take_along_axis(b, order, -2);
    return rules::triangular_solve(lu, rules::triangular_solve(lu, rows, lower), upper);
  }
  const Array x = rules::triangular_solve(lu, rules::triangular_solve(lu, b, upper), lower);
  return put_along_axis(x, order, x, -2);
}

}  // namespace

Array internal::solve_by_lu(const Array& a, const Array& lu, const Array& permutation,
                            const Array& b) {
  const Loc at = LocScope::current();
  const FlatBody map = [&](std::span<const Array> x) {
    return std::vector<Array>{matmul(a, x[0], at)};
  };
  const auto by_factors = [&](bool transpose) {
    return FlatSolve([&lu, &permutation, transpose](const FlatBody&, std::span<const Array> right) {
      return std::vector<Array>{solve_by_factors(lu, permutation, right[0], transpose)};
    });
  };
  return flat_linear_solve(map, {b}, by_factors(false), by_factors(true), {})[0];
}

Array linalg::LuSolveFunction::operator()(const LuFactor& factor, const Array& b,
                                          const LuSolveOptions& options, Loc loc) const {
  const OpScope at("linalg::lu_solve", loc);
  internal::require_defined("linalg::lu_solve", "lu", factor.lu, "b", b);
  internal::require_defined("linalg::lu_solve", "permutation", factor.permutation);
  const LinearSystem s("linalg::lu_solve", factor.lu, b);
  Shape order = s.b.shape();
  order.erase(order.rank() - 1);
  return s.like_b(
      solve_by_factors(s.a, broadcast_to(factor.permutation, order), s.b, options.transpose));
}

Array linalg::SolveFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("linalg::solve", loc);
  internal::require_defined("linalg::solve", "a", a, "b", b);
  const LinearSystem s("linalg::solve", a, b, "; linalg::lstsq takes others");
  const std::vector<Array> f = bind_all(lu_p, {s.a});
  return s.like_b(internal::solve_by_lu(s.a, f[0], f[2], s.b));
}

Array linalg::InvFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::inv", loc);
  internal::require_defined("linalg::inv", "a", a);
  const Array x = internal::square_matrix("linalg::inv", a, "; linalg::pinv takes others");
  return solve(x, internal::identity_like(x), loc);
}

}  // namespace spruce
