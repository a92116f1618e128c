// SPDX-License-Identifier: Apache-2.0
// Losses that are zero beyond a margin: of pairs, of triplets and of classes. Where the margin is
// just reached their derivative is 0, as in PyTorch 2.15.
#pragma once

#include <functional>

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of hinge_embedding_loss.
struct HingeEmbeddingOptions {
  double margin = 1;                       ///< how far apart unlike pairs should be
  Reduction reduction = Reduction::kMean;  ///< of the elements
};
/// Of distances `input` and targets 1 or -1: the input where the target is 1, max(0, margin -
/// input) where it is -1; their sum for another target, as PyTorch has it. Throws ShapeError unless
/// both have one shape.
inline constexpr struct HingeEmbeddingLossFunction {
  Array operator()(const Array& input, const Array& target,
                   const HingeEmbeddingOptions& options = {}, Loc loc = Loc::current()) const;
} hinge_embedding_loss{};

/// Options of margin_ranking_loss and cosine_embedding_loss.
struct MarginOptions {
  double margin = 0;                       ///< by how much the loss begins earlier
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// max(0, -target (input1 - input2) + margin): target 1 where input1 should be the larger, else -1.
/// Throws ShapeError unless input1 and input2 have one shape, with which the target broadcasts.
inline constexpr struct MarginRankingLossFunction {
  Array operator()(const Array& input1, const Array& input2, const Array& target,
                   const MarginOptions& options = {}, Loc loc = Loc::current()) const;
} margin_ranking_loss{};
/// 1 - cos(input1, input2) where the target is 1, max(0, cos(input1, input2) - margin) where it is
/// -1; 0 for another target.
///
/// Shapes:  input1, input2 f[n, d], target [n]; or f[d], f[d], []
/// Throws:  ShapeError.
inline constexpr struct CosineEmbeddingLossFunction {
  Array operator()(const Array& input1, const Array& input2, const Array& target,
                   const MarginOptions& options = {}, Loc loc = Loc::current()) const;
} cosine_embedding_loss{};

/// Options of triplet_margin_loss.
struct TripletMarginOptions {
  double margin = 1;  ///< by how much the negative should be farther away than the positive
  double p = 2;       ///< the order of the norm of pairwise_distance
  double eps = 1e-6;  ///< added to each difference
  bool swap = false;  ///< whether the distance of positive and negative counts where it is smaller
                      ///< than that of anchor and negative (Balntas et al. 2016)
  Reduction reduction = Reduction::kMean;  ///< of the triplets
};
/// max(0, d(anchor, positive) - d(anchor, negative) + margin) with d = pairwise_distance:
/// f[..., d] three times -> f[...] before the reduction. Throws ShapeError where they do not
/// broadcast or differ in rank.
inline constexpr struct TripletMarginLossFunction {
  Array operator()(const Array& anchor, const Array& positive, const Array& negative,
                   const TripletMarginOptions& options = {}, Loc loc = Loc::current()) const;
} triplet_margin_loss{};

/// Options of triplet_margin_with_distance_loss.
struct TripletDistanceOptions {
  /// The distance of two arrays, smaller for nearer ones; pairwise_distance where none is given.
  std::function<Array(const Array&, const Array&)> distance_function = {};
  double margin = 1;                       ///< as in TripletMarginOptions
  bool swap = false;                       ///< as in TripletMarginOptions
  Reduction reduction = Reduction::kMean;  ///< of the triplets
};
/// triplet_margin_loss with a distance of one's own.
inline constexpr struct TripletMarginWithDistanceLossFunction {
  Array operator()(const Array& anchor, const Array& positive, const Array& negative,
                   const TripletDistanceOptions& options = {}, Loc loc = Loc::current()) const;
} triplet_margin_with_distance_loss{};

/// log(1 + exp(-target input)) for targets 1 and -1, without overflow. Throws ShapeError unless
/// both have one shape.
inline constexpr struct SoftMarginLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} soft_margin_loss{};

/// Options of multi_margin_loss.
struct MultiMarginOptions {
  int64_t p = 1;                           ///< the power of each term: 1 or 2
  double margin = 1;                       ///< by how much the class of the target should lead
  Array weight = {};                       ///< f[classes]: by the class of the target
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// The sum over the other classes i of max(0, margin - input[target] + input[i])^p, divided by the
/// number of classes.
///
/// Shapes:  input f[n, classes] with target i[n], or f[classes] with i[]
/// Throws:  ShapeError, DtypeError; IndexError for a class that is known to be out of range (others
///          give NaN, as in cross_entropy); ValueError for another p.
inline constexpr struct MultiMarginLossFunction {
  Array operator()(const Array& input, const Array& target, const MultiMarginOptions& options = {},
                   Loc loc = Loc::current()) const;
} multi_margin_loss{};

/// The sum over target classes j and other classes i of max(0, 1 - input[j] + input[i]), divided by
/// the number of classes. The target holds the classes of each example in front of the first
/// negative number; what is behind it does not count.
///
/// Shapes:  input f[n, classes] with target i[n, classes], or f[classes] with i[classes]
/// Throws:  ShapeError, DtypeError. A class out of range is no class and counts as the end.
inline constexpr struct MultilabelMarginLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} multilabel_margin_loss{};

/// Options of multilabel_soft_margin_loss.
struct MultilabelSoftMarginOptions {
  Array weight = {};                       ///< f[classes]; undefined for ones
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// The mean over the last axis, the classes, of the binary cross entropy of sigmoid(input) with
/// targets 0 and 1. Throws ShapeError unless both have one shape of rank 1 or more.
inline constexpr struct MultilabelSoftMarginLossFunction {
  Array operator()(const Array& input, const Array& target,
                   const MultilabelSoftMarginOptions& options = {}, Loc loc = Loc::current()) const;
} multilabel_soft_margin_loss{};

}  // namespace spruce::nn
