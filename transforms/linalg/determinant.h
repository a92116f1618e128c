// SPDX-License-Identifier: Apache-2.0
// Determinants, by the LU decomposition; of up to three rows by their definition, in f64.
#pragma once

#include "spruce/core/array.h"

namespace spruce::linalg {

/// The determinant: f[..., n, n] -> f[...]. Under- and overflows where `slogdet` does not. Grad: g
/// det(a) a'^-1, for n > 3 not finite where a has no inverse (JAX's is, for matrices of rank n -
/// 1).
inline constexpr struct DetFunction {
  Array operator()(const Array& a, Loc loc = Loc::current()) const;
} det{};

/// What slogdet gives: the determinant is sign exp(logabsdet).
struct SlogDet {
  Array sign;       ///< f[...]: 1, -1, or 0 for a matrix without an inverse
  Array logabsdet;  ///< f[...]: -infinity for such a matrix
};
/// The determinant as its sign and the logarithm of its absolute value: f[..., n, n]. Grad of the
/// logarithm: g a'^-1; of the sign: none.
inline constexpr struct SlogdetFunction {
  SlogDet operator()(const Array& a, Loc loc = Loc::current()) const;
} slogdet{};

}  // namespace spruce::linalg
