// SPDX-License-Identifier: Apache-2.0
// Distributions that are drawn by rejection: gamma and what is made of it, Poisson, binomial. The
// draws are those of JAX (for f16 and bf16 those of f32, rounded).
#pragma once

#include "spruce/core/random/key.h"
#include "spruce/core/shape_arg.h"

namespace spruce::random {

/// Options of distributions with parameters.
struct VariateOptions {
  ShapeArg shape{};  ///< of the result, to which the parameters broadcast; by default
                     ///< the shape to which they broadcast each other
};

/// Gamma variates with shape parameter a > 0 and scale 1, in the dtype of `a` (f32 for C++ numbers
/// and integers); multiply them by a scale. Each element has its own key of split(key, n). NaN for
/// an `a` that is not positive. Grad: implicit reparametrisation, d x / d a at a fixed quantile
/// (Figurnov et al. 2018), of first order. Throws ShapeError where `a` does not broadcast to the
/// shape, and what the other functions of random throw for the key.
inline constexpr struct GammaFunction {
  Array operator()(const Key& key, const Array& a, const VariateOptions& options = {},
                   Loc loc = Loc::current()) const;
} gamma{};
/// The logarithm of gamma(key, a), exact also where `a` is so small that the variate itself is 0.
inline constexpr struct LoggammaFunction {
  Array operator()(const Key& key, const Array& a, const VariateOptions& options = {},
                   Loc loc = Loc::current()) const;
} loggamma{};
/// Beta variates in [0, 1] with parameters a, b > 0. Differentiable as gamma.
inline constexpr struct BetaFunction {
  Array operator()(const Key& key, const Array& a, const Array& b,
                   const VariateOptions& options = {}, Loc loc = Loc::current()) const;
} beta{};
/// Chi-squared variates with df > 0 degrees of freedom. Differentiable as gamma.
inline constexpr struct ChisquareFunction {
  Array operator()(const Key& key, const Array& df, const VariateOptions& options = {},
                   Loc loc = Loc::current()) const;
} chisquare{};
/// Points f[..., k] with sum 1, from parameters alpha f[..., k] > 0. `shape` is that of the result
/// without the last axis. Differentiable as gamma. Throws ShapeError for rank 0.
inline constexpr struct DirichletFunction {
  Array operator()(const Key& key, const Array& alpha, const VariateOptions& options = {},
                   Loc loc = Loc::current()) const;
} dirichlet{};
/// Variates of Student's t distribution with df > 0 degrees of freedom. Differentiable as gamma.
inline constexpr struct TFunction {
  Array operator()(const Key& key, const Array& df, const VariateOptions& options = {},
                   Loc loc = Loc::current()) const;
} t{};

/// Options of poisson.
struct PoissonOptions {
  ShapeArg shape{};             ///< of the result, to which the rates broadcast
  Dtype dtype = Dtype::kInt32;  ///< any integer dtype
};
/// Poisson variates; rates are taken in f32, and one that is negative or NaN gives -1. Gradient:
/// none. Throws DtypeError for a dtype that is no integer.
inline constexpr struct PoissonFunction {
  Array operator()(const Key& key, const Array& rate, const PoissonOptions& options = {},
                   Loc loc = Loc::current()) const;
} poisson{};
/// How many of n trials succeed, each with probability p: whole numbers in the floating dtype of p
/// (f32 for C++ numbers and integers). NaN for n < 0, p outside of [0, 1] and NaN. Gradient: none.
inline constexpr struct BinomialFunction {
  Array operator()(const Key& key, const Array& n, const Array& p,
                   const VariateOptions& options = {}, Loc loc = Loc::current()) const;
} binomial{};

}  // namespace spruce::random
