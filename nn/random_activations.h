// SPDX-License-Identifier: Apache-2.0
// Activations that draw random numbers.
#pragma once

#include <optional>

#include "spruce/core/axis_arg.h"
#include "spruce/nn/context.h"

namespace spruce::nn {

/// Options of rrelu.
struct RreluOptions {
  double lower = 1.0 / 8;  ///< the smallest slope below 0
  double upper = 1.0 / 3;  ///< the largest
  bool training = false;   ///< whether slopes are drawn; else all are (lower + upper) / 2
  Key key = {};            ///< needed in training
};
/// x where x > 0, a x elsewhere with a slope a of its own for each element, uniform in
/// [lower, upper) (Xu et al. 2015). Of the shape of x, which must be floating. Throws ValueError
/// for lower above upper, or without a key in training.
inline constexpr struct RreluFunction {
  Array operator()(const Array& x, const RreluOptions& options = {},
                   Loc loc = Loc::current()) const;
} rrelu{};

/// rrelu as a layer: draws a key from the context in training.
struct RReLU {
  double lower = 1.0 / 8;  ///< the smallest slope below 0
  double upper = 1.0 / 3;  ///< the largest

  /// Evaluation mode.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training, with a key from the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};

/// Options of gumbel_softmax.
struct GumbelSoftmaxOptions {
  double tau = 1;                ///< temperature: the smaller, the nearer to one-hot vectors
  bool hard = false;             ///< one-hot vectors, with the gradient of the soft ones
  Axis axis = -1;                ///< the axis of the distribution
  std::optional<Axis> dim = {};  ///< PyTorch's name of axis; give one of them
  Key key = {};                  ///< always needed
};
/// softmax((logits + g) / tau) with Gumbel noise g: samples of the distribution softmax(logits),
/// made soft so that they have a gradient (Jang, Gu and Poole 2017). Of the shape of the logits.
/// Throws ValueError for a tau that is not positive or without a key, ShapeError for an axis that
/// is not there, DtypeError unless logits are floating.
inline constexpr struct GumbelSoftmaxFunction {
  Array operator()(const Array& logits, const GumbelSoftmaxOptions& options,
                   Loc loc = Loc::current()) const;
} gumbel_softmax{};

}  // namespace spruce::nn
