// SPDX-License-Identifier: Apache-2.0
// Losses of classes by the scores of a decision function: hinge, perceptron, sparsemax, poly. The
// names are those of Optax; as all losses here they give the mean, and with Reduction::kNone what
// Optax gives.
#pragma once

#include "spruce/core/axis_arg.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {

/// max(0, 1 - target input) for scores `input` and targets 1 and -1. Throws ShapeError unless both
/// have one shape, DtypeError for an input that is not floating.
inline constexpr struct HingeLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} hinge_loss{};
/// max(0, -target input) for scores `input` and targets 1 and -1 (Rosenblatt 1958). Throws as
/// hinge_loss.
inline constexpr struct PerceptronLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} perceptron_loss{};
/// The sparsemax loss of two classes: 0 for z <= -1, (z + 1)^2 / 4 up to z = 1, z beyond, where z
/// is -input for a target that is not 0 and input for 0 (Blondel, Martins and Niculae 2020, section
/// 4.4). Throws as hinge_loss.
inline constexpr struct SparsemaxLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} sparsemax_loss{};

/// max_i(input[i] + (i != target)) - input[target]: by how much the largest score, with a margin of
/// 1, is above that of the target (Crammer and Singer 2001). multi_margin_loss adds up all classes.
///
/// Shapes:  input f[..., classes], target i[...] -> f[], with Reduction::kNone f[...]
/// Throws:  ShapeError, DtypeError; IndexError for a class that is known to be out of range (others
///          give NaN, as in cross_entropy).
inline constexpr struct MulticlassHingeLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} multiclass_hinge_loss{};
/// max(input) - input[target] (Collins 2002). Shapes and errors as multiclass_hinge_loss.
inline constexpr struct MulticlassPerceptronLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} multiclass_perceptron_loss{};
/// The loss whose gradient is p - one_hot(target), where p is the point of the probability simplex
/// that is nearest to the scores (sparsemax, Martins and Astudillo 2016): sum(p (input -
/// input[target])) + (1 - sum(p^2)) / 2. Shapes and errors as multiclass_hinge_loss.
inline constexpr struct MulticlassSparsemaxLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} multiclass_sparsemax_loss{};

/// Options of softmax_cross_entropy.
struct SoftmaxCrossEntropyOptions {
  AxisArg axis = -1;  ///< the axes of the classes
  Array where = {};   ///< bool, broadcast to the input: the classes that count;
                      ///< undefined for all
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// -sum(target log(softmax(input))), the cross entropy with probabilities along the last axis. An
/// example of which no class counts gives 0, with gradients of 0. cross_entropy has PyTorch's
/// options, takes indices of classes, and has the classes along axis 1.
///
/// Shapes:  input f[..., classes], target of that shape -> f[], with Reduction::kNone f[...]
/// Throws:  ShapeError, DtypeError.
inline constexpr struct SoftmaxCrossEntropyFunction {
  Array operator()(const Array& input, const Array& target,
                   const SoftmaxCrossEntropyOptions& options = {}, Loc loc = Loc::current()) const;
} softmax_cross_entropy{};

/// Options of poly_loss_cross_entropy.
struct PolyLossOptions {
  double epsilon = 2;  ///< weight of the first polynomial term
  AxisArg axis = -1;   ///< the axes of the classes
  Array where = {};    ///< bool, broadcast to the input: the classes that count;
                       ///< undefined for all
  Reduction reduction = Reduction::kMean;  ///< of the examples
};
/// The cross entropy of softmax(input) with the target, plus epsilon sum(target (1 -
/// softmax(input))) (Leng et al. 2022, https://arxiv.org/abs/2204.12511).
///
/// Shapes:  input f[..., classes], target of that shape: probabilities -> f[], with
///          Reduction::kNone f[...]
/// Throws:  ShapeError, DtypeError; ValueError for an epsilon that is not finite.
inline constexpr struct PolyLossCrossEntropyFunction {
  Array operator()(const Array& input, const Array& target, const PolyLossOptions& options = {},
                   Loc loc = Loc::current()) const;
} poly_loss_cross_entropy{};

}  // namespace spruce::nn
