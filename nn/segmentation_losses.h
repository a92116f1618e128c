// SPDX-License-Identifier: Apache-2.0
// Losses of segmentations by how much they overlap, after Optax. dice_loss takes probabilities.
#pragma once

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of binary_dice_loss.
struct BinaryDiceOptions {
  double smooth = 1;                       ///< added above and below the line
  bool apply_sigmoid = true;               ///< false: the input are probabilities
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// 1 - (sum(p target) + smooth) / (sum(p + target) / 2 + smooth) for each example, with p =
/// sigmoid(input) and sums over all axes but the first (Sudre et al. 2017).
///
/// Shapes:  input f[n, ...], target of that shape -> f[], with Reduction::kNone f[n]
/// Throws:  ShapeError, DtypeError; ValueError for a negative smooth.
inline constexpr struct BinaryDiceLossFunction {
  Array operator()(const Array& input, const Array& target, const BinaryDiceOptions& options = {},
                   Loc loc = Loc::current()) const;
} binary_dice_loss{};

/// Options of multiclass_generalized_dice_loss.
struct GeneralizedDiceOptions {
  double smooth = 1;               ///< added above and below the line
  bool apply_softmax = true;       ///< false: the input are probabilities
  bool ignore_background = false;  ///< class 0 does not count
};
/// The mean over examples and classes of the dice loss of each class, by the weights 1 /
/// (frequency^2 + 1e-7), which are scaled so that their mean is 1 (Sudre et al. 2017,
/// https://arxiv.org/abs/1707.03237). Classes are along the last axis, as in Optax.
///
/// Shapes:  input f[n, ..., classes], target of that shape: one-hot, or probabilities -> f[]
/// Throws:  ShapeError, DtypeError; ValueError for a negative smooth.
inline constexpr struct MulticlassGeneralizedDiceLossFunction {
  Array operator()(const Array& input, const Array& target,
                   const GeneralizedDiceOptions& options = {}, Loc loc = Loc::current()) const;
} multiclass_generalized_dice_loss{};

}  // namespace spruce::nn
