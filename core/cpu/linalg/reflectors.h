// SPDX-License-Identifier: Apache-2.0
// Householder reflectors of f64, and powers of two by which decompositions scale.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/linalg/vectors.h"

namespace spruce::cpu {

/// Reflectors that products apply together.
inline constexpr int64_t kReflectors = 32;

/// Reflectors H_j = I - tau_j v_j v_j' of vectors of `length` numbers, 0 <= j < count <= length.
/// Number i of v_j is 0 for i < j, 1 for i == j, else rows[j * step + i]; row j of a matrix of
/// columns in rows can so hold what is left of the column before j, too.
///
/// For each block of kReflectors, `blocks` holds the matrix M [kReflectors, kReflectors], upper
/// triangular, with H_k ... H_l = I + V M V', where the columns of V are v_k to v_l.
struct Reflectors {
  int64_t count, length;
  double* rows;
  int64_t step;
  double* blocks;

  /// The block of reflector j.
  double* block(int64_t j) const { return blocks + j / kReflectors * kReflectors * kReflectors; }
  /// Where -tau_j stands.
  double& diagonal(int64_t j) const { return block(j)[j % kReflectors * (kReflectors + 1)]; }
};

/// Numbers of Reflectors::blocks.
int64_t reflector_blocks(int64_t count);
/// Numbers of memory that the functions below take for at most n vectors.
int64_t reflector_memory(int64_t length, int64_t n);

/// The root of the sum of squares, without overflow or underflow on the way.
double norm(const VectorLoops& v, const double* x, int64_t n);
/// Makes the reflector that takes x, n >= 1 numbers, to (beta, 0, ...), with the sign that LAPACK
/// gives beta: x becomes beta and what follows the 1 in the vector. Returns tau, 0 where zeros
/// follow already.
double reflect(const VectorLoops& v, double* x, int64_t n);

/// The factors q r of a matrix whose n >= count columns are the rows of h: q is the product of all
/// reflectors, and r stands transposed on and before number j of row j.
void factor_columns(const VectorLoops& v, const Reflectors& h, int64_t n, double* memory);
/// Makes M of all blocks from its diagonal, which is there.
void complete_blocks(const Reflectors& h, double* memory);
/// Each of n vectors x becomes H_0 H_1 ... x. `identity`: they are the first of the identity.
void apply_reflectors(const Reflectors& h, bool identity, double* x, int64_t x_step, int64_t n,
                      double* memory);
/// The n rows of x become the first columns of H_0 H_1 ..., of `size` numbers: the reflectors leave
/// those before the last h.length alone.
void multiply_reflectors(const Reflectors& h, int64_t size, double* x, int64_t n, double* memory);
/// y -= the sum of (a_p . x) b_p for p < count <= kReflectors: rows of a and of b, `step` apart. x
/// has m numbers, y n.
void subtract_products(const VectorLoops& v, const double* a, const double* b, int64_t step,
                       int64_t count, const double* x, int64_t m, double* y, int64_t n);

/// The e with 2^e <= the largest magnitude of n finite numbers < 2^(e + 1); 0 if all are zeros.
int largest_exponent(const double* x, int64_t n);
/// x *= 2^e.
void scale_by_power(int e, double* x, int64_t n);

}  // namespace spruce::cpu
