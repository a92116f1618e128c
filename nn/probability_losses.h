// SPDX-License-Identifier: Apache-2.0
// Losses of predicted distributions: Bernoulli, Poisson, Gaussian; focal and dice; divergences.
#pragma once

#include "spruce/core/axis_arg.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of binary_cross_entropy.
struct BinaryCrossEntropyOptions {
  Array weight = {};                       ///< broadcast to the elements; undefined for ones
  Reduction reduction = Reduction::kMean;  ///< of the elements
};
/// -(target log(input) + (1 - target) log(1 - input)) of probabilities, with each logarithm at
/// least -100. Of logits bce_with_logits loses less.
///
/// Shapes:  input f[...], target f[...] of the same shape -> f[], with Reduction::kNone f[...]
/// Throws:  ShapeError, DtypeError; ValueError for an input that is known and not within 0..1.
/// Grad:    (input - target) / max(input (1 - input), 1e-12), finite at 0 and 1.
inline constexpr struct BinaryCrossEntropyFunction {
  Array operator()(const Array& input, const Array& target,
                   const BinaryCrossEntropyOptions& options = {}, Loc loc = Loc::current()) const;
} binary_cross_entropy{};

/// Options of poisson_nll_loss.
struct PoissonNllOptions {
  bool log_input = true;                   ///< whether the input is the logarithm of the rate
  bool full = false;                       ///< whether Stirling's approximation of log(target!) is
                                           ///< added, for targets above 1
  double eps = 1e-8;                       ///< added to the rate before its logarithm is taken
  Reduction reduction = Reduction::kMean;  ///< of the elements
};
/// The negative logarithm of the Poisson distribution of the target: exp(input) - target input, or
/// input - target log(input + eps) without log_input. Throws ShapeError unless both have one shape,
/// DtypeError for an input that is not floating, ValueError for a negative eps.
inline constexpr struct PoissonNllLossFunction {
  Array operator()(const Array& input, const Array& target, const PoissonNllOptions& options = {},
                   Loc loc = Loc::current()) const;
} poisson_nll_loss{};

/// Options of gaussian_nll_loss.
struct GaussianNllOptions {
  bool full = false;                       ///< whether the constant log(2 pi) / 2 is added
  double eps = 1e-6;                       ///< the variance counts as at least this
  Reduction reduction = Reduction::kMean;  ///< of the elements
};
/// (log(var) + (input - target)^2 / var) / 2: the negative logarithm of the normal distribution of
/// the target with mean `input` and variance `var` (Nix and Weigend 1994).
///
/// Shapes:  input f[..., d], target of the same shape, var of the same shape, f[..., 1] or f[...]
/// Throws:  ShapeError; ValueError for an eps that is not positive and for a variance that is known
///          to be negative.
/// Grad:    that of the variance is the same where it counts as eps.
inline constexpr struct GaussianNllLossFunction {
  Array operator()(const Array& input, const Array& target, const Array& var,
                   const GaussianNllOptions& options = {}, Loc loc = Loc::current()) const;
} gaussian_nll_loss{};

/// Options of sigmoid_focal_loss; the defaults are torchvision's.
struct FocalOptions {
  double alpha = 0.25;  ///< weight of the positive class, 1 - alpha of the other; negative: none
  double gamma = 2;     ///< the larger, the less examples count that are predicted well
  Reduction reduction = Reduction::kNone;  ///< of the elements
};
/// bce_with_logits times (1 - p)^gamma, where p is the predicted probability of the target, 0 or 1
/// (Lin et al. 2017). Throws ShapeError unless both have one shape, ValueError for a gamma that is
/// negative and an alpha above 1.
inline constexpr struct SigmoidFocalLossFunction {
  Array operator()(const Array& input, const Array& target, const FocalOptions& options = {},
                   Loc loc = Loc::current()) const;
} sigmoid_focal_loss{};

/// Options of dice_loss.
struct DiceOptions {
  double smooth = 1;                       ///< added above and below the line
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// 1 - (2 sum(input target) + smooth) / (sum(input) + sum(target) + smooth) for each example: the
/// sums are over all axes but the first (Milletari, Navab and Ahmadi 2016). The input are
/// probabilities. Throws ShapeError unless both have one shape of rank 1 or more, ValueError for a
/// negative smooth.
inline constexpr struct DiceLossFunction {
  Array operator()(const Array& input, const Array& target, const DiceOptions& options = {},
                   Loc loc = Loc::current()) const;
} dice_loss{};

/// Options of generalized_kl_divergence.
struct DivergenceOptions {
  AxisArg axis = -1;                       ///< the axes of one distribution
  Array where = {};                        ///< bool, broadcast to the elements: those that count;
                                           ///< undefined for all
  Reduction reduction = Reduction::kMean;  ///< of the distributions
};
/// sum(target (log target - input) + exp(input) - target): the Kullback-Leibler divergence of
/// measures that need not sum to 1, by the logarithms `input` (Bregman 1967); a target of 0 counts
/// exp(input). After Optax, which gives Reduction::kNone. kl_div has the terms of the divergence of
/// distributions.
///
/// Shapes:  input f[..., d], target of that shape -> f[], with Reduction::kNone f[...]
/// Throws:  ShapeError, DtypeError.
inline constexpr struct GeneralizedKlDivergenceFunction {
  Array operator()(const Array& input, const Array& target, const DivergenceOptions& options = {},
                   Loc loc = Loc::current()) const;
} generalized_kl_divergence{};
/// The same under its other name in Optax.
inline constexpr const auto& convex_kl_divergence = generalized_kl_divergence;

}  // namespace spruce::nn
