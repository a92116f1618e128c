// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of symmetric tridiagonal matrices.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/linalg/rotations.h"

namespace spruce::cpu {

/// d [n], the diagonal, becomes the eigenvalues, in no order, and e [n - 1], which stands beside
/// it, is used up. `rotations` are those of its eigenvectors as rows. False if it does not
/// converge.
bool diagonalise_tridiagonal(int64_t n, double* d, double* e, Rotations& rotations);

}  // namespace spruce::cpu
