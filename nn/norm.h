// SPDX-License-Identifier: Apache-2.0
// Normalisation layers.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "spruce/nn/factory.h"

namespace spruce::nn {

/// Options of layer_norm.
struct LayerNormOptions {
  double eps = 1e-5;  ///< added to the variance
};
/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, whose sizes are
/// `normalized_shape` (Ba, Kiros and Hinton 2016). Undefined weight and bias stand for ones and
/// zeros. Throws ShapeError, and ValueError for an eps that is negative or not finite.
inline constexpr struct LayerNormFunction {
  Array operator()(const Array& x, const Shape& normalized_shape, const Array& weight = {},
                   const Array& bias = {}, const LayerNormOptions& options = {},
                   Loc loc = Loc::current()) const;
} layer_norm{};

/// Options of batch_norm.
struct BatchNormOptions {
  bool training = false;  ///< statistics of the batch, not the running ones
  double momentum = 0.1;  ///< share of the new statistics in the running ones
  double eps = 1e-5;      ///< added to the variance
};
/// What batch_norm returns: the result and the running statistics, which only training changes.
struct BatchNormResult {
  Array output;        ///< of the shape of x
  Array running_mean;  ///< f[c]
  Array running_var;   ///< f[c]
};
/// Batch normalisation over all axes but axis 1 of f[n, c, ...] (Ioffe and Szegedy 2015). In
/// training with the statistics of the batch (biased variance; the running variance takes the
/// unbiased one), else with the running ones. Undefined weight and bias stand for ones and zeros;
/// running statistics may be undefined in training. Half precision is computed in f32 and returned
/// as it came. Throws ShapeError, and ValueError in training with a single value for each channel,
/// for a momentum outside of 0..1 and for an eps that is negative or not finite.
inline constexpr struct BatchNormFunction {
  BatchNormResult operator()(const Array& x, const Array& running_mean, const Array& running_var,
                             const Array& weight = {}, const Array& bias = {},
                             const BatchNormOptions& options = {}, Loc loc = Loc::current()) const;
} batch_norm{};

/// Options of LayerNorm.
struct NormLayerOptions {
  double eps = 1e-5;         ///< added to the variance
  bool affine = true;        ///< whether there are weight and bias
  Dtype dtype = float32;     ///< of the parameters
  Device* device = nullptr;  ///< where they are made; null: the default device
};

/// Layer norm over the last axes.
///
/// Parameters: weight, bias f32[normalized_shape], ones and zeros at first.
struct LayerNorm {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "normalized_shape:normalized_shape affine?weight";

  std::optional<Array> weight;  ///< f32[normalized_shape]
  std::optional<Array> bias;    ///< f32[normalized_shape]
  Shape normalized_shape;       ///< the sizes of the last axes
  double eps = 1e-5;            ///< added to the variance

  /// Ones and zeros. Throws ValueError for an eps that is negative or not finite.
  static LayerNorm init(const Shape& normalized_shape, const NormLayerOptions& options = {},
                        Loc loc = Loc::current());
  /// Over the last axis, of that size.
  template <std::integral T>
  static LayerNorm init(T size, const NormLayerOptions& options = {}, Loc loc = Loc::current()) {
    return init(Shape{size}, options, loc);
  }
  /// As layer_norm().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// Options of BatchNorm.
struct BatchNormLayerOptions {
  double eps = 1e-5;  ///< added to the variance
  /// Share of the new statistics; std::nullopt for the mean over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;               ///< whether there are weight and bias
  bool track_running_stats = true;  ///< without them evaluation, too, takes those of the batch
  Dtype dtype = float32;            ///< of the parameters
  Device* device = nullptr;         ///< where they are made; null: the default device
};

/// Batch norm over f[n, c, ...] of any rank from 2.
///
/// Parameters: weight, bias f32[c].
/// State:      buffers running_mean, running_var f32[c], num_batches_tracked i64[]; none without
/// track_running_stats.
struct BatchNorm {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "num_features=weight.0 affine?weight track_running_stats?running_mean";

  std::optional<Array> weight;                ///< f32[c]
  std::optional<Array> bias;                  ///< f32[c]
  std::optional<Buffer> running_mean;         ///< f32[c]
  std::optional<Buffer> running_var;          ///< f32[c]
  std::optional<Buffer> num_batches_tracked;  ///< i64[]
  double eps = 1e-5;                          ///< added to the variance
  std::optional<double> momentum = 0.1;       ///< as in BatchNormLayerOptions

  /// Ones and zeros; the running variance begins at one. Throws ValueError for a momentum outside
  /// of 0..1 and for an eps that is negative or not finite.
  static BatchNorm init(int64_t num_features, const BatchNormLayerOptions& options = {},
                        Loc loc = Loc::current());
  /// Evaluation mode.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training the new running statistics go to the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};

/// A factory of LayerNorm layers over the last axis of the example.
inline auto layer_norm_layer(NormLayerOptions options = {}) {
  return LayerFactory(
      [=](const Key&, const Array& x) { return LayerNorm::init({x.shape(-1)}, options); });
}
/// A factory of BatchNorm layers over axis 1 of the example.
inline auto batch_norm_layer(BatchNormLayerOptions options = {}) {
  return LayerFactory(
      [=](const Key&, const Array& x) { return BatchNorm::init(x.shape(1), options); });
}

}  // namespace spruce::nn
