// SPDX-License-Identifier: Apache-2.0
// Losses of vectors by the angles between them, after Optax.
#pragma once

#include "spruce/core/axis_arg.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of cosine_distance.
struct CosineDistanceOptions {
  double epsilon = 0;                      ///< a squared norm below it counts as this
  AxisArg axis = -1;                       ///< the axes of one vector
  Array where = {};                        ///< bool, broadcast to the elements: those that count;
                                           ///< undefined for all
  Reduction reduction = Reduction::kMean;  ///< of the pairs
};
/// 1 - the cosine of the angle between input and target: f[..., d], f[..., d] -> f[], with
/// Reduction::kNone f[...]. NaN for a vector of zeros, or of which nothing counts, where epsilon is
/// 0. Throws ShapeError unless both have one shape, ValueError for a negative epsilon. See
/// nn::cosine_similarity too.
inline constexpr struct CosineDistanceFunction {
  Array operator()(const Array& input, const Array& target,
                   const CosineDistanceOptions& options = {}, Loc loc = Loc::current()) const;
} cosine_distance{};

/// Options of ntxent.
struct NtxentOptions {
  double temperature = 0.07;  ///< what cosines are divided by
};
/// The normalised temperature-scaled cross entropy of embeddings (Chen et al. 2020,
/// https://arxiv.org/abs/2002.05709): the mean, over all pairs i, j of different examples with one
/// label, of -log(exp(c_ij) / (exp(c_ij) + sum over k of other labels of exp(c_ik))), where c are
/// the cosines of the embeddings over the temperature.
///
/// Shapes:  input f[n, d], target i[n] -> f[]; NaN where no two labels are the same
/// Throws:  ShapeError, DtypeError; ValueError unless the temperature is positive.
inline constexpr struct NtxentFunction {
  Array operator()(const Array& input, const Array& target, const NtxentOptions& options = {},
                   Loc loc = Loc::current()) const;
} ntxent{};

}  // namespace spruce::nn
