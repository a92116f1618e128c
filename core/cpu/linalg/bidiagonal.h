// SPDX-License-Identifier: Apache-2.0
// Upper bidiagonal matrices: how a square matrix becomes one, and its singular values
// (Golub and Van Loan, Matrix Computations, 2013, sections 5.4 and 8.6).
#pragma once

#include <cstdint>

#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/cpu/linalg/rotations.h"

namespace spruce::cpu {

/// A square matrix as Q B P': B has d and e, Q and P are products of reflectors.
struct Bidiagonal {
  int64_t n;
  double* a;            // [n, n]: the matrix; then the reflectors from the right
  double* v;            // [n, n]: the reflectors from the left
  double *d, *e;        // of B: the diagonal [n], and what stands right of it [n - 1]
  double* left_blocks;  // reflector_blocks(n) numbers each
  double* right_blocks;

  Reflectors left() const { return {n, n, v, n, left_blocks}; }
  Reflectors right() const { return {n - 1, n - 1, a + 1, n, right_blocks}; }
};

/// Numbers of memory that make_bidiagonal takes.
int64_t bidiagonal_memory(int64_t n);
/// Reduces the matrix in b.a.
void make_bidiagonal(const VectorLoops& v, const Bidiagonal& b, double* memory);

/// d becomes the singular values of B, in no order and with signs; e is used up. The rows that
/// `left` and `right` rotate are its singular vectors. False if it does not converge.
bool diagonalise_bidiagonal(int64_t n, double* d, double* e, Rotations& left, Rotations& right);

}  // namespace spruce::cpu
