// SPDX-License-Identifier: Apache-2.0
// Activations and losses as structs under the names of PyTorch's classes: a function together with
// its options. nn::LeakyReLU{{.negative_slope = 0.2f}} is a part of sequential or a field of a
// model, nn::CrossEntropyLoss{{.label_smoothing = 0.1f}}(input, target) a loss.
#pragma once

#include "spruce/nn/activations.h"
#include "spruce/nn/ctc_loss.h"
#include "spruce/nn/loss.h"
#include "spruce/nn/margin_losses.h"
#include "spruce/nn/norm.h"
#include "spruce/nn/probability_losses.h"

namespace spruce::nn {

/// A function of one array as a struct.
template <const auto& kFunction>
struct FunctionLayer {
  /// The result of the function.
  Array operator()(const Array& x, Loc loc = Loc::current()) const { return kFunction(x, loc); }
};

/// A function of one array, with its options.
template <const auto& kFunction, class Options>
struct FunctionLayerWith {
  Options options = {};  ///< of each call

  /// The result of the function.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    return kFunction(x, options, loc);
  }
};

/// A loss with its options.
template <const auto& kLoss, class Options>
struct LossLayer {
  Options options = {};  ///< of each call

  /// The loss of two arrays, the second one the target.
  Array operator()(const Array& input, const Array& target, Loc loc = Loc::current()) const
      requires(
          std::is_invocable_v<decltype(kLoss), const Array&, const Array&, const Options&, Loc>) {
    return kLoss(input, target, options, loc);
  }
  /// Of three, in the order of the function's arguments.
  Array operator()(const Array& a, const Array& b, const Array& c, Loc loc = Loc::current()) const
      requires(std::is_invocable_v<decltype(kLoss), const Array&, const Array&, const Array&,
                                   const Options&, Loc>) {
    return kLoss(a, b, c, options, loc);
  }
  /// Of four, in the order of the function's arguments.
  Array operator()(const Array& a, const Array& b, const Array& c, const Array& d,
                   Loc loc = Loc::current()) const
      requires(std::is_invocable_v<decltype(kLoss), const Array&, const Array&, const Array&,
                                   const Array&, const Options&, Loc>) {
    return kLoss(a, b, c, d, options, loc);
  }
};

/// relu as a struct, as are those that follow.
using ReLU = FunctionLayer<relu>;
/// relu6.
using ReLU6 = FunctionLayer<relu6>;
/// selu.
using SELU = FunctionLayer<selu>;
/// silu.
using SiLU = FunctionLayer<silu>;
/// mish.
using Mish = FunctionLayer<mish>;
/// sigmoid.
using Sigmoid = FunctionLayer<spruce::sigmoid>;
/// tanh.
using Tanh = FunctionLayer<spruce::tanh>;
/// tanhshrink.
using Tanhshrink = FunctionLayer<tanhshrink>;
/// softsign.
using Softsign = FunctionLayer<softsign>;
/// logsigmoid.
using LogSigmoid = FunctionLayer<logsigmoid>;
/// hardsigmoid.
using Hardsigmoid = FunctionLayer<hardsigmoid>;
/// hardswish.
using Hardswish = FunctionLayer<hardswish>;
/// gelu with its options.
using GELU = FunctionLayerWith<gelu, GeluOptions>;
/// elu with its options.
using ELU = FunctionLayerWith<elu, EluOptions>;
/// celu with its options.
using CELU = FunctionLayerWith<celu, EluOptions>;
/// leaky_relu with its options.
using LeakyReLU = FunctionLayerWith<leaky_relu, LeakyReluOptions>;
/// glu along one axis.
struct GLU {
  int64_t dim = -1;  ///< the axis, which comes out half as long

  /// The result of glu.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    return glu(x, {.dim = dim}, loc);
  }
};
/// softmax over the channels of f[n, c, h, w] or f[c, h, w].
struct Softmax2d {
  /// The result of softmax. Throws ShapeError for other ranks.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Softmax2d", loc);
    if (x.rank() != 3 && x.rank() != 4) {
      throw ShapeError("Softmax2d: takes f[n, c, h, w] or f[c, h, w], got " + to_string(x.aval()));
    }
    return softmax(x, {.dim = -3});
  }
};

/// BatchNorm under the names of PyTorch's classes; the rank is not checked.
using BatchNorm1d = BatchNorm;
/// The same.
using BatchNorm2d = BatchNorm;
/// The same.
using BatchNorm3d = BatchNorm;

/// binary_cross_entropy of (probabilities, target).
using BCELoss = LossLayer<binary_cross_entropy, BinaryCrossEntropyOptions>;
/// binary_cross_entropy_with_logits of (input, target).
using BCEWithLogitsLoss = LossLayer<binary_cross_entropy_with_logits, BceOptions>;
/// cosine_embedding_loss of (input1, input2, target).
using CosineEmbeddingLoss = LossLayer<cosine_embedding_loss, MarginOptions>;
/// cross_entropy of (input, target).
using CrossEntropyLoss = LossLayer<cross_entropy, CrossEntropyOptions>;
/// ctc_loss of (log_probs, targets, input_lengths, target_lengths).
using CTCLoss = LossLayer<ctc_loss, CtcOptions>;
/// gaussian_nll_loss of (input, target, var).
using GaussianNLLLoss = LossLayer<gaussian_nll_loss, GaussianNllOptions>;
/// hinge_embedding_loss of (input, target).
using HingeEmbeddingLoss = LossLayer<hinge_embedding_loss, HingeEmbeddingOptions>;
/// huber_loss of (input, target).
using HuberLoss = LossLayer<huber_loss, HuberOptions>;
/// kl_div of (input, target).
using KLDivLoss = LossLayer<kl_div, KlDivOptions>;
/// l1_loss of (input, target).
using L1Loss = LossLayer<l1_loss, LossOptions>;
/// margin_ranking_loss of (input1, input2, target).
using MarginRankingLoss = LossLayer<margin_ranking_loss, MarginOptions>;
/// mse_loss of (input, target).
using MSELoss = LossLayer<mse_loss, LossOptions>;
/// multilabel_margin_loss of (input, target).
using MultiLabelMarginLoss = LossLayer<multilabel_margin_loss, LossOptions>;
/// multilabel_soft_margin_loss of (input, target).
using MultiLabelSoftMarginLoss =
    LossLayer<multilabel_soft_margin_loss, MultilabelSoftMarginOptions>;
/// multi_margin_loss of (input, target).
using MultiMarginLoss = LossLayer<multi_margin_loss, MultiMarginOptions>;
/// nll_loss of (input, target).
using NLLLoss = LossLayer<nll_loss, NllOptions>;
/// poisson_nll_loss of (input, target).
using PoissonNLLLoss = LossLayer<poisson_nll_loss, PoissonNllOptions>;
/// smooth_l1_loss of (input, target).
using SmoothL1Loss = LossLayer<smooth_l1_loss, SmoothL1Options>;
/// soft_margin_loss of (input, target).
using SoftMarginLoss = LossLayer<soft_margin_loss, LossOptions>;
/// triplet_margin_loss of (anchor, positive, negative).
using TripletMarginLoss = LossLayer<triplet_margin_loss, TripletMarginOptions>;
/// triplet_margin_with_distance_loss of (anchor, positive, negative).
using TripletMarginWithDistanceLoss =
    LossLayer<triplet_margin_with_distance_loss, TripletDistanceOptions>;

}  // namespace spruce::nn
