// SPDX-License-Identifier: Apache-2.0
// Normalisation within each example: over groups of channels, and over single ones.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/norm.h"

namespace spruce::nn {

/// Options of group_norm.
struct GroupNormOptions {
  double eps = 1e-5;  ///< added to the variance
};
/// f[n, c, ...] normalised over each of num_groups groups of channels of each example, then times
/// weight plus bias of each channel (Wu and He 2018). Undefined weight and bias stand for ones and
/// zeros.
///
/// Shapes:  x f[n, c, ...], weight and bias f[c] -> f[n, c, ...]
/// Throws:  ShapeError where num_groups does not divide c, or weight and bias do not fit;
/// ValueError
///          for an eps that is negative or not finite.
inline constexpr struct GroupNormFunction {
  Array operator()(const Array& x, int64_t num_groups, const Array& weight = {},
                   const Array& bias = {}, const GroupNormOptions& options = {},
                   Loc loc = Loc::current()) const;
} group_norm{};

/// Options of instance_norm.
struct InstanceNormOptions {
  bool use_input_stats = true;  ///< statistics of each example, not the running ones
  double momentum = 0.1;        ///< share of the new statistics in the running ones
  double eps = 1e-5;            ///< added to the variance
};
/// f[n, c, d...] normalised over d... for each example and channel (Ulyanov, Vedaldi and Lempitsky
/// 2016). The running statistics, which may be undefined, take the mean of those of the examples
/// where use_input_stats is set; else they are what x is normalised by.
///
/// Shapes:  x f[n, c, d...] with one d or more, running_mean, running_var, weight, bias f[c]
/// Throws:  ShapeError; ValueError for a single value for each channel, without running statistics
///          where they are needed, for a momentum outside of 0..1 and for an eps that is negative
///          or not finite.
inline constexpr struct InstanceNormFunction {
  BatchNormResult operator()(const Array& x, const Array& running_mean = {},
                             const Array& running_var = {}, const Array& weight = {},
                             const Array& bias = {}, const InstanceNormOptions& options = {},
                             Loc loc = Loc::current()) const;
} instance_norm{};

/// Group norm over f[n, c, ...] of any rank from 2.
///
/// Parameters: weight, bias f32[c], ones and zeros at first.
struct GroupNorm {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "num_groups:num_groups num_channels=weight.0 affine?weight";

  std::optional<Array> weight;  ///< f32[c]
  std::optional<Array> bias;    ///< f32[c]
  int64_t num_groups = 1;       ///< groups of channels
  double eps = 1e-5;            ///< added to the variance

  /// Ones and zeros. Throws ShapeError where num_groups does not divide num_channels, ValueError
  /// for an eps that is negative or not finite.
  static GroupNorm init(int64_t num_groups, int64_t num_channels,
                        const NormLayerOptions& options = {}, Loc loc = Loc::current());
  /// As group_norm().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// Options of InstanceNorm1d, InstanceNorm2d and InstanceNorm3d: as BatchNorm, but without
/// parameters and running statistics unless asked for.
struct InstanceNormLayerOptions {
  double eps = 1e-5;                 ///< added to the variance
  double momentum = 0.1;             ///< share of the new statistics in the running ones
  bool affine = false;               ///< whether there are weight and bias
  bool track_running_stats = false;  ///< whether evaluation takes running statistics
  Dtype dtype = float32;             ///< of the parameters
  Device* device = nullptr;          ///< where they are made; null: the default device
};

/// Instance norm over `kAxes` spatial axes: f[n, c, d...] or one example f[c, d...].
///
/// Parameters: weight, bias f32[c] with .affine.
/// State:      with .track_running_stats buffers running_mean, running_var f32[c] and
///             num_batches_tracked i64[], which PyTorch has and never counts.
template <int kAxes>
struct InstanceNorm {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "num_features=weight.0 affine?weight track_running_stats?running_mean";

  std::optional<Array> weight;                ///< f32[c]
  std::optional<Array> bias;                  ///< f32[c]
  std::optional<Buffer> running_mean;         ///< f32[c]
  std::optional<Buffer> running_var;          ///< f32[c]
  std::optional<Buffer> num_batches_tracked;  ///< i64[]: 0
  double eps = 1e-5;                          ///< added to the variance
  double momentum = 0.1;                      ///< share of the new statistics in the running ones

  /// Ones and zeros; the running variance begins at one. Throws ValueError for a momentum outside
  /// of 0..1 and for an eps that is negative or not finite.
  static InstanceNorm init(int64_t num_features, const InstanceNormLayerOptions& options = {},
                           Loc loc = Loc::current());
  /// Evaluation mode.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training the new running statistics go to the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};
extern template struct InstanceNorm<1>;
extern template struct InstanceNorm<2>;
extern template struct InstanceNorm<3>;
/// f[n, c, d] or f[c, d].
using InstanceNorm1d = InstanceNorm<1>;
/// f[n, c, h, w] or f[c, h, w].
using InstanceNorm2d = InstanceNorm<2>;
/// f[n, c, d, h, w] or f[c, d, h, w].
using InstanceNorm3d = InstanceNorm<3>;

/// A factory of GroupNorm layers over axis 1 of the example.
inline auto group_norm_layer(int64_t num_groups, NormLayerOptions options = {}) {
  return LayerFactory(
      [=](const Key&, const Array& x) { return GroupNorm::init(num_groups, x.shape(1), options); });
}

}  // namespace spruce::nn
