// SPDX-License-Identifier: Apache-2.0
// Normalisation by sums of squares: rms_norm and local_response_norm.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "spruce/core/op_scope.h"
#include "spruce/nn/factory.h"

namespace spruce::nn {

/// Options of rms_norm.
struct RmsNormOptions {
  std::optional<double> eps =
      {};  ///< added to the mean of squares; by default the distance from 1
           ///< to the next number of the dtype of x (f32 for half precision)
};
/// x / sqrt(mean(x^2) + eps) * weight over the last axes, whose sizes are `normalized_shape` (Zhang
/// and Sennrich 2019). An undefined weight stands for ones. Half precision is computed in f32.
///
/// Shapes:  x f[..., normalized_shape], weight f[normalized_shape] -> the shape of x
/// Throws:  ShapeError, DtypeError for an x that is not floating; ValueError for an eps that is
///          negative or not finite.
inline constexpr struct RmsNormFunction {
  Array operator()(const Array& x, const Shape& normalized_shape, const Array& weight = {},
                   const RmsNormOptions& options = {}, Loc loc = Loc::current()) const;
} rms_norm{};

/// Options of local_response_norm.
struct LocalResponseNormOptions {
  double alpha = 1e-4;  ///< factor of the mean of squares
  double beta = 0.75;   ///< power of the divisor
  double k = 1;         ///< added to the divisor
};
/// x / (k + alpha m)^beta of f[n, c, ...], where m is the sum of squares over the `size` channels
/// around each one, divided by size; channels outside count as zeros (Krizhevsky et al. 2012).
/// Throws ShapeError for a rank below 2, ValueError for a size below 1.
inline constexpr struct LocalResponseNormFunction {
  Array operator()(const Array& x, int64_t size, const LocalResponseNormOptions& options = {},
                   Loc loc = Loc::current()) const;
} local_response_norm{};

/// Options of RMSNorm.
struct RmsNormLayerOptions {
  std::optional<double> eps = {};  ///< as in RmsNormOptions
  bool affine = true;              ///< whether there is a weight
  Dtype dtype = float32;           ///< of the weight
  Device* device = nullptr;        ///< where they are made; null: the default device
};

/// RMS norm over the last axes.
///
/// Parameters: weight f32[normalized_shape], ones at first.
struct RMSNorm {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "normalized_shape:normalized_shape affine?weight";

  std::optional<Array> weight;     ///< f32[normalized_shape]
  Shape normalized_shape;          ///< the sizes of the last axes
  std::optional<double> eps = {};  ///< as in RmsNormOptions

  /// Ones. Throws ValueError for an eps that is negative or not finite.
  static RMSNorm init(const Shape& normalized_shape, const RmsNormLayerOptions& options = {},
                      Loc loc = Loc::current());
  /// Over the last axis, of that size.
  template <std::integral T>
  static RMSNorm init(T size, const RmsNormLayerOptions& options = {}, Loc loc = Loc::current()) {
    return init(Shape{size}, options, loc);
  }
  /// As rms_norm().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// local_response_norm as a layer without parameters.
struct LocalResponseNorm {
  int64_t size = 5;     ///< how many channels count
  double alpha = 1e-4;  ///< factor of the mean of squares
  double beta = 0.75;   ///< power of the divisor
  double k = 1;         ///< added to the divisor

  /// The result of local_response_norm.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("LocalResponseNorm", loc);
    return local_response_norm(x, size, {alpha, beta, k});
  }
};

/// A factory of RMSNorm layers over the last axis of the example.
inline auto rms_norm_layer(RmsNormLayerOptions options = {}) {
  return LayerFactory(
      [=](const Key&, const Array& x) { return RMSNorm::init({x.shape(-1)}, options); });
}

}  // namespace spruce::nn
