// SPDX-License-Identifier: Apache-2.0
// Losses of the order of items in lists, after Optax.
#pragma once

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of ranking_softmax_loss.
struct RankingOptions {
  Array where = {};    ///< bool, broadcast to the items: those that count; undefined for all
  Array weights = {};  ///< broadcast to the items: what the target is multiplied by
  Reduction reduction = Reduction::kMean;  ///< of the lists; the mean is over those with an item
                                           ///< that counts, 0 if there is none
};
/// -sum(weight target log(softmax(input))) over the items of each list (Cao et al. 2007,
/// https://doi.org/10.1145/1273496.1273513). The targets are relevances, not probabilities.
///
/// Shapes:  input f[..., items], target of that shape -> f[], with Reduction::kNone f[...]: 0 for
///          lists without an item that counts
/// Throws:  ShapeError, DtypeError.
inline constexpr struct RankingSoftmaxLossFunction {
  Array operator()(const Array& input, const Array& target, const RankingOptions& options = {},
                   Loc loc = Loc::current()) const;
} ranking_softmax_loss{};

}  // namespace spruce::nn
