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
#include "spruce/nn/type_name.h"

namespace spruce::nn {

/// A function of one array as a struct, which is printed as kName.
template <const auto& kFunction, internal::ClassName kName = "FunctionLayer">
struct FunctionLayer {
  static constexpr const char* kClassName = kName.text;  ///< what it is printed as

  /// The result of the function.
  Array operator()(const Array& x, Loc loc = Loc::current()) const { return kFunction(x, loc); }
};

/// A function of one array, with its options.
template <const auto& kFunction, class Options, internal::ClassName kName = "FunctionLayerWith">
struct FunctionLayerWith {
  static constexpr const char* kClassName = kName.text;  ///< what it is printed as
  /// What is printed of its options.
  static constexpr std::string_view kExtraRepr = internal::extra_repr_of<Options>();

  Options options = {};  ///< of each call

  /// The result of the function.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    return kFunction(x, options, loc);
  }
};

/// A loss with its options.
template <const auto& kLoss, class Options, internal::ClassName kName = "LossLayer">
struct LossLayer {
  static constexpr const char* kClassName = kName.text;  ///< what it is printed as
  static constexpr bool kArraysAreBuffers = true;        ///< in a Module: they are not trained
  /// What is printed of its options.
  static constexpr std::string_view kExtraRepr =
      "weight pos_weight reduction{mean,sum,none,batchmean}";

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
using ReLU = FunctionLayer<relu, "ReLU">;
/// relu6.
using ReLU6 = FunctionLayer<relu6, "ReLU6">;
/// selu.
using SELU = FunctionLayer<selu, "SELU">;
/// silu.
using SiLU = FunctionLayer<silu, "SiLU">;
/// mish.
using Mish = FunctionLayer<mish, "Mish">;
/// sigmoid.
using Sigmoid = FunctionLayer<spruce::sigmoid, "Sigmoid">;
/// tanh.
using Tanh = FunctionLayer<spruce::tanh, "Tanh">;
/// tanhshrink.
using Tanhshrink = FunctionLayer<tanhshrink, "Tanhshrink">;
/// softsign.
using Softsign = FunctionLayer<softsign, "Softsign">;
/// logsigmoid.
using LogSigmoid = FunctionLayer<logsigmoid, "LogSigmoid">;
/// hardsigmoid.
using Hardsigmoid = FunctionLayer<hardsigmoid, "Hardsigmoid">;
/// hardswish.
using Hardswish = FunctionLayer<hardswish, "Hardswish">;
/// gelu with its options.
using GELU = FunctionLayerWith<gelu, GeluOptions, "GELU">;
/// elu with its options.
using ELU = FunctionLayerWith<elu, EluOptions, "ELU">;
/// celu with its options.
using CELU = FunctionLayerWith<celu, EluOptions, "CELU">;
/// leaky_relu with its options.
using LeakyReLU = FunctionLayerWith<leaky_relu, LeakyReluOptions, "LeakyReLU">;
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
using BCELoss = LossLayer<binary_cross_entropy, BinaryCrossEntropyOptions, "BCELoss">;
/// binary_cross_entropy_with_logits of (input, target).
using BCEWithLogitsLoss =
    LossLayer<binary_cross_entropy_with_logits, BceOptions, "BCEWithLogitsLoss">;
/// cosine_embedding_loss of (input1, input2, target).
using CosineEmbeddingLoss = LossLayer<cosine_embedding_loss, MarginOptions, "CosineEmbeddingLoss">;
/// cross_entropy of (input, target).
using CrossEntropyLoss = LossLayer<cross_entropy, CrossEntropyOptions, "CrossEntropyLoss">;
/// ctc_loss of (log_probs, targets, input_lengths, target_lengths).
using CTCLoss = LossLayer<ctc_loss, CtcOptions, "CTCLoss">;
/// gaussian_nll_loss of (input, target, var).
using GaussianNLLLoss = LossLayer<gaussian_nll_loss, GaussianNllOptions, "GaussianNLLLoss">;
/// hinge_embedding_loss of (input, target).
using HingeEmbeddingLoss =
    LossLayer<hinge_embedding_loss, HingeEmbeddingOptions, "HingeEmbeddingLoss">;
/// huber_loss of (input, target).
using HuberLoss = LossLayer<huber_loss, HuberOptions, "HuberLoss">;
/// kl_div of (input, target).
using KLDivLoss = LossLayer<kl_div, KlDivOptions, "KLDivLoss">;
/// l1_loss of (input, target).
using L1Loss = LossLayer<l1_loss, LossOptions, "L1Loss">;
/// margin_ranking_loss of (input1, input2, target).
using MarginRankingLoss = LossLayer<margin_ranking_loss, MarginOptions, "MarginRankingLoss">;
/// mse_loss of (input, target).
using MSELoss = LossLayer<mse_loss, LossOptions, "MSELoss">;
/// multilabel_margin_loss of (input, target).
using MultiLabelMarginLoss = LossLayer<multilabel_margin_loss, LossOptions, "MultiLabelMarginLoss">;
/// multilabel_soft_margin_loss of (input, target).
using MultiLabelSoftMarginLoss =
    LossLayer<multilabel_soft_margin_loss, MultilabelSoftMarginOptions, "MultiLabelSoftMarginLoss">;
/// multi_margin_loss of (input, target).
using MultiMarginLoss = LossLayer<multi_margin_loss, MultiMarginOptions, "MultiMarginLoss">;
/// nll_loss of (input, target).
using NLLLoss = LossLayer<nll_loss, NllOptions, "NLLLoss">;
/// poisson_nll_loss of (input, target).
using PoissonNLLLoss = LossLayer<poisson_nll_loss, PoissonNllOptions, "PoissonNLLLoss">;
/// smooth_l1_loss of (input, target).
using SmoothL1Loss = LossLayer<smooth_l1_loss, SmoothL1Options, "SmoothL1Loss">;
/// soft_margin_loss of (input, target).
using SoftMarginLoss = LossLayer<soft_margin_loss, LossOptions, "SoftMarginLoss">;
/// triplet_margin_loss of (anchor, positive, negative).
using TripletMarginLoss = LossLayer<triplet_margin_loss, TripletMarginOptions, "TripletMarginLoss">;
/// triplet_margin_with_distance_loss of (anchor, positive, negative).
using TripletMarginWithDistanceLoss =
    LossLayer<triplet_margin_with_distance_loss, TripletDistanceOptions,
              "TripletMarginWithDistanceLoss">;

}  // namespace spruce::nn
