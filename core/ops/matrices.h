// SPDX-License-Identifier: Apache-2.0
// What functions of matrices ask of their operands, and share.
#pragma once

#include "spruce/core/ops/decompositions.h"

namespace spruce::internal {

/// `a` as it stands, or in f32. Throws ShapeError that names `op` unless it has two axes.
Array floating_matrix(const char* op, const Array& a);
/// The same. Throws ShapeError too where these differ; `advice` goes on behind "got f32[2,3]".
Array square_matrix(const char* op, const Array& a, const char* advice = "");

/// Ones on the diagonal, as many rows and columns as x has, of its dtype, where it lives: f[m, n].
Array identity_like(const Array& x);

/// Which of the singular values s of a count: bool[..., k], `factor` times the rtol of NumPy where
/// none is given.
Array above_rtol(const Array& a, const Array& s, const linalg::RankOptions& options, double factor);

/// The operands of a x = b with one floating dtype and the same batches, b as matrices. Where `a`
/// is one matrix for several right sides, these stand side by side.
struct LinearSystem {
  /// Throws ShapeError that names `op`; `advice` as in square_matrix.
  LinearSystem(const char* op, const Array& a, const Array& b, const char* advice = "");
  /// x in the shape that b had.
  Array like_b(const Array& x) const;

  Array a;              ///< f[..., n, n]
  Array b;              ///< f[..., n, k]
  bool vector;          ///< b was f[n]
  Shape batch;          ///< of b, where its matrices stand side by side; else empty
  int64_t columns = 0;  ///< of each of these matrices
};

}  // namespace spruce::internal
