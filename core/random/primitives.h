// SPDX-License-Identifier: Apache-2.0
// The primitives of random numbers and their parameters. Keys are u32[...,2]; what is said below of
// one key holds for each key of a batch.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// random_bits: `width` (8, 16, 32 or 64) random bits an element, u8..u64 of `shape`.
struct RandomBitsParams {
  int64_t width = 32;  ///< bits of an element
  Shape shape;         ///< for one key; behind the batch of keys in the result
};
/// key u32[..., 2] -> u8..u64[..., shape...].
extern const Primitive random_bits_p;

/// random_uniform: numbers of a floating dtype in [low, high), of `shape`.
struct RandomUniformParams {
  Dtype dtype = Dtype::kFloat32;  ///< of the result, floating
  double high = 1;                ///< above all results
  double low = 0;                 ///< the smallest result
  Shape shape;                    ///< for one key; behind the batch of keys in the result
};
/// key u32[..., 2] -> f[..., shape...].
extern const Primitive random_uniform_p;

/// random_split: n keys, u32[n,2].
struct RandomSplitParams {
  int64_t n = 2;  ///< how many keys
};
/// key u32[..., 2] -> u32[..., n, 2].
extern const Primitive random_split_p;

/// random_fold_in: a new key from a key u32[...,2] and a number u32[...] for each.
extern const Primitive random_fold_in_p;

// Variates with parameters f[..., n...] for keys u32[..., 2]; they have the shape of those.

/// random_gamma: of the gamma distribution, or their logarithms.
struct RandomGammaParams {
  bool log_space = false;  ///< logarithms, which do not underflow for small parameters
};
/// random_poisson: of the Poisson distribution, from f32 rates.
struct RandomPoissonParams {
  Dtype dtype = Dtype::kInt32;  ///< of the result, an integer one
};
/// random_binomial: of the binomial distribution, from numbers of trials and probabilities.
extern const Primitive random_binomial_p, random_gamma_p, random_poisson_p;

/// random_gamma_grad: the derivative of a gamma variate x by its parameter a.
extern const Primitive random_gamma_grad_p;
/// d x / d a for x of the gamma distribution with parameter a, at a fixed quantile; elementwise.
Array random_gamma_grad(const Array& a, const Array& x);

}  // namespace spruce
