// SPDX-License-Identifier: Apache-2.0
// The last layer of a classifier and its loss in one.
#pragma once

#include "spruce/nn/linear.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {

/// cross_entropy(linear(input, linear_weight, linear_bias), target).
///
/// Shapes:  input f[n, in] or f[in], linear_weight f[classes, in], target and options as in
///          cross_entropy, linear_bias f[classes] or undefined
/// Throws:  ShapeError, DtypeError and IndexError as linear and cross_entropy.
inline constexpr struct LinearCrossEntropyFunction {
  Array operator()(const Array& input, const Array& linear_weight, const Array& target,
                   const Array& linear_bias = {}, const CrossEntropyOptions& options = {},
                   Loc loc = Loc::current()) const;
} linear_cross_entropy{};

/// Options of LinearCrossEntropyLoss.
struct LinearCrossEntropyLossOptions {
  bool bias = false;              ///< whether the linear layer has one
  Dtype dtype = float32;          ///< of its parameters
  Device* device = nullptr;       ///< where they are made; null: the default device
  init::LayerInit init = {};      ///< how they begin, if not as PyTorch's
  CrossEntropyOptions loss = {};  ///< of the loss
};
/// linear_cross_entropy with the weight as a parameter, PyTorch's class without out_features.
///
/// Parameters: linear a Linear from in_features to num_classes.
struct LinearCrossEntropyLoss {
  Linear linear;                     ///< from inputs to scores
  CrossEntropyOptions options = {};  ///< of the loss

  /// The linear layer as Linear::init.
  static LinearCrossEntropyLoss init(const Key& key, int64_t in_features, int64_t num_classes,
                                     const LinearCrossEntropyLossOptions& options = {},
                                     Loc loc = Loc::current());
  /// The loss of f[n, in] or f[in]. Throws as linear_cross_entropy.
  Array operator()(const Array& input, const Array& target, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
