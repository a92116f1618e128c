// SPDX-License-Identifier: Apache-2.0
// Kernels of the primitives that decompose matrices (core/rules/decompositions.h), for floating
// dtypes, and the bytes of workspace that they take.
#pragma once

#include "spruce/core/cpu/with_workspace.h"

namespace spruce::cpu {

/// in: a [..., n, n], of which what stands above the diagonal is not read; out: the factor, zeros
/// above the diagonal. NaN for a matrix that is not positive definite.
void cholesky_kernel(const KernelArgs& args);
size_t cholesky_workspace(const PrepareArgs& args);

/// in: a [..., n, n] and b [..., n, k]; out: x [..., n, k].
void triangular_solve_kernel(const KernelArgs& args);
size_t triangular_solve_workspace(const PrepareArgs& args);

/// in: a [..., m, n]; out: both factors [..., m, n], the pivots i32[..., min(m, n)] and the
/// permutation of the rows i32[..., m].
void lu_kernel(const KernelArgs& args);
size_t lu_workspace(const PrepareArgs& args);

/// in: a [..., m, n]; out: q and r.
void qr_kernel(const KernelArgs& args);
size_t qr_workspace(const PrepareArgs& args);

/// in: a [..., n, n], of which what stands above the diagonal is not read; out: the eigenvalues
/// [..., n], rising, and the eigenvectors as columns [..., n, n].
void eigh_kernel(const KernelArgs& args);
size_t eigh_workspace(const PrepareArgs& args);

/// in: a [..., m, n]; out: u, s and the transpose of v, or s alone.
void svd_kernel(const KernelArgs& args);
size_t svd_workspace(const PrepareArgs& args);

}  // namespace spruce::cpu
