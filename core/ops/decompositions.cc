// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/decompositions.h"

#include <algorithm>

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

namespace spruce {

namespace linalg {
namespace {

using spruce::internal::floating_matrix;
using spruce::internal::require_defined;
using spruce::internal::square_matrix;

Array symmetric(const Array& a) { return 0.5 * a + 0.5 * rules::transposed(a); }

// The lower triangle of the matrices of an option.
Array lower_of(const Array& a, bool lower, bool symmetrize) {
  return symmetrize ? symmetric(a) : lower ? a : rules::transposed(a);
}

std::vector<Array> eigh_of(const char* op, const Array& a, const EighOptions& options,
                           bool vectors) {
  require_defined(op, "a", a);
  return bind_all(eigh_p, {lower_of(square_matrix(op, a), options.lower, options.symmetrize_input)},
                  Params::make(EighParams{vectors}));
}

std::vector<Array> svd_of(const char* op, const Array& a, const SvdParams& params) {
  require_defined(op, "a", a);
  return bind_all(svd_p, {floating_matrix(op, a)}, Params::make(params));
}

}  // namespace

Array CholeskyFunction::operator()(const Array& a, const CholeskyOptions& options, Loc loc) const {
  const OpScope at("linalg::cholesky", loc);
  require_defined("linalg::cholesky", "a", a);
  const Array x = square_matrix("linalg::cholesky", a);
  const Array l = bind1(cholesky_p, {lower_of(x, !options.upper, options.symmetrize_input)});
  return options.upper ? rules::transposed(l) : l;
}

Array SolveTriangularFunction::operator()(const Array& a, const Array& b,
                                          const SolveTriangularOptions& options, Loc loc) const {
  const OpScope at("linalg::solve_triangular", loc);
  require_defined("linalg::solve_triangular", "a", a, "b", b);
  const spruce::internal::LinearSystem s("linalg::solve_triangular", a, b);
  return s.like_b(
      rules::triangular_solve(s.a, s.b, {options.lower, options.transpose, options.unit_diagonal}));
}

Array ChoSolveFunction::operator()(const Array& factor, const Array& b,
                                   const ChoSolveOptions& options, Loc loc) const {
  const OpScope at("linalg::cho_solve", loc);
  require_defined("linalg::cho_solve", "factor", factor, "b", b);
  const spruce::internal::LinearSystem s("linalg::cho_solve", factor, b);
  const bool lower = options.lower;
  const Array half = rules::triangular_solve(s.a, s.b, {.lower = lower, .transpose = !lower});
  return s.like_b(rules::triangular_solve(s.a, half, {.lower = lower, .transpose = lower}));
}

LuFactor LuFactorFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::lu_factor", loc);
  require_defined("linalg::lu_factor", "a", a);
  const std::vector<Array> out = bind_all(lu_p, {floating_matrix("linalg::lu_factor", a)});
  return {out[0], out[1], out[2]};
}

Lu LuFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::lu", loc);
  require_defined("linalg::lu", "a", a);
  const std::vector<Array> out = bind_all(lu_p, {floating_matrix("linalg::lu", a)});
  const int64_t m = a.shape()[a.rank() - 2], n = a.shape().back(), k = std::min(m, n);
  const int columns = a.rank() - 1;
  const Array left = rules::slice_axis(out[0], columns, 0, k);
  const spruce::internal::SameDevice here(a);
  const Array places = arange(m);
  // Row i of l u is row permutation[i] of a, so p[permutation[i], i] = 1.
  const Array p = equal(expand_dims(out[2], -2), expand_dims(places, -1));
  return {astype(p, out[0].dtype()), tril(left, -1) + spruce::internal::identity_like(left),
          triu(rules::slice_axis(out[0], columns - 1, 0, k))};
}

Qr QrFunction::operator()(const Array& a, const QrOptions& options, Loc loc) const {
  const OpScope at("linalg::qr", loc);
  require_defined("linalg::qr", "a", a);
  if (options.mode != "reduced" && options.mode != "complete") {
    throw ValueError("linalg::qr: mode \"" + std::string(options.mode) +
                     "\" is unknown; give \"reduced\" or \"complete\"");
  }
  const std::vector<Array> out =
      bind_all(qr_p, {floating_matrix("linalg::qr", a)},
               Params::make(QrParams{.full = options.mode == "complete"}));
  return {out[0], out[1]};
}

Eigh EighFunction::operator()(const Array& a, const EighOptions& options, Loc loc) const {
  const OpScope at("linalg::eigh", loc);
  const std::vector<Array> out = eigh_of("linalg::eigh", a, options, true);
  return {out[0], out[1]};
}

Array EigvalshFunction::operator()(const Array& a, const EighOptions& options, Loc loc) const {
  const OpScope at("linalg::eigvalsh", loc);
  return eigh_of("linalg::eigvalsh", a, options, false)[0];
}

Svd SvdFunction::operator()(const Array& a, const SvdOptions& options, Loc loc) const {
  const OpScope at("linalg::svd", loc);
  const std::vector<Array> out =
      svd_of("linalg::svd", a, {.full = options.full_matrices, .vectors = true});
  return {out[0], out[1], out[2]};
}

Array SvdvalsFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::svdvals", loc);
  return svd_of("linalg::svdvals", a, {})[0];
}

Array MatrixRankFunction::operator()(const Array& a, const RankOptions& options, Loc loc) const {
  const OpScope at("linalg::matrix_rank", loc);
  const Array s = svd_of("linalg::matrix_rank", a, {})[0];
  return count_nonzero(spruce::internal::above_rtol(a, s, options, 1), -1);
}

Array CondFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::cond", loc);
  const Array s = svd_of("linalg::cond", a, {})[0];
  const int64_t k = s.shape().back();
  if (k == 0) {
    throw ShapeError("linalg::cond: a matrix without elements, here " + to_string(a.aval()) +
                     ", has no singular values");
  }
  const int axis = s.rank() - 1;
  return squeeze(rules::slice_axis(s, axis, 0, 1) / rules::slice_axis(s, axis, k - 1, k), -1);
}

Array LinalgDiagonalFunction::operator()(const Array& a, const LinalgDiagonalOptions& options,
                                         Loc loc) const {
  const OpScope at("linalg::diagonal", loc);
  return spruce::diagonal(a, {.offset = options.offset, .axis1 = -2, .axis2 = -1});
}

Array LinalgTraceFunction::operator()(const Array& a, const LinalgDiagonalOptions& options,
                                      Loc loc) const {
  const OpScope at("linalg::trace", loc);
  return spruce::trace(a, {.offset = options.offset, .axis1 = -2, .axis2 = -1});
}

}  // namespace linalg
}  // namespace spruce
