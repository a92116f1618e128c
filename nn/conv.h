// SPDX-License-Identifier: Apache-2.0
// Convolutions.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/factory.h"
#include "spruce/nn/initializer.h"
#include "spruce/nn/pad.h"
#include "spruce/nn/spatial_axes.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// Options of conv1d, conv2d and conv3d.
struct ConvOptions {
  WindowArg stride = 1;    ///< steps of the window
  PaddingArg padding = 0;  ///< zeros on both sides
  WindowArg dilation = 1;  ///< distance of the elements under the window
  int64_t groups = 1;      ///< parts of the channels that do not see each other
};

/// Convolution (cross-correlation) over 1, 2 or 3 spatial axes.
///
/// Shapes:  x f[n, in, d...] or f[in, d...], weight f[out, in / groups, k...], bias f[out] or
/// undefined -> f[n, out, d'...]
/// Throws:  ShapeError, naming shapes and options, where they do not fit; ValueError for
/// padding by an unknown name, and for "same" unless the stride is 1.
inline constexpr struct Conv1dFunction {
  Array operator()(const Array& x, const Array& weight, const Array& bias = {},
                   const ConvOptions& options = {}, Loc loc = Loc::current()) const;
} conv1d{};
/// Over 2 spatial axes: x f[n, in, h, w] or f[in, h, w], weight f[out, in / groups, kh, kw].
inline constexpr struct Conv2dFunction {
  Array operator()(const Array& x, const Array& weight, const Array& bias = {},
                   const ConvOptions& options = {}, Loc loc = Loc::current()) const;
} conv2d{};
/// Over 3 spatial axes: x f[n, in, d, h, w] or f[in, d, h, w], weight f[out, in / groups, kd, kh,
/// kw].
inline constexpr struct Conv3dFunction {
  Array operator()(const Array& x, const Array& weight, const Array& bias = {},
                   const ConvOptions& options = {}, Loc loc = Loc::current()) const;
} conv3d{};

/// Options of Conv1d, Conv2d, Conv3d and their factories.
struct ConvLayerOptions {
  WindowArg stride = 1;      ///< steps of the window
  PaddingArg padding = 0;    ///< zeros on both sides
  WindowArg dilation = 1;    ///< distance of the elements under the window
  int64_t groups = 1;        ///< parts of the channels that do not see each other
  bool bias = true;          ///< whether there is one
  Dtype dtype = float32;     ///< of the parameters
  Device* device = nullptr;  ///< where they are made; null: the default device
  PaddingMode padding_mode = PaddingMode::kZeros;  ///< what the padding is
  init::LayerInit init = {};                       ///< how parameters begin, if not as PyTorch's
};

namespace internal {

/// What is printed of a convolution: see describe().
inline constexpr std::string_view kConvRepr =
    "in_channels=weight.1*groups out_channels=weight.0 kernel_size=weight.2+ stride:stride "
    "padding:padding_low -padding_high dilation:dilation groups:groups "
    "padding_mode{zeros,reflect,replicate,circular} bias?bias";

/// The static part of a convolution layer: numbers for each spatial axis.
struct ConvConfig {
  Shape stride, padding_low, padding_high, dilation;
  int64_t groups = 1;
  PaddingMode padding_mode = PaddingMode::kZeros;
};
struct ConvParts {
  Array weight;
  std::optional<Array> bias;
  ConvConfig config;
};
ConvParts init_conv(const char* op, int rank, const Key& key, int64_t in, int64_t out,
                    const WindowArg& kernel, const ConvLayerOptions& options);
Array run_conv(const char* op, const Array& x, const Array& weight, const Array& bias,
               const ConvConfig& config);

}  // namespace internal

/// Convolution layer over one spatial axis: f[n, in, d] -> f[n, out, d'].
///
/// Parameters: weight f32[out, in / groups, k], bias f32[out]; both uniform in +-1/sqrt(in / groups
/// * k).
struct Conv1d {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = internal::kConvRepr;

  Array weight;                 ///< the kernels
  std::optional<Array> bias;    ///< f32[out]
  internal::ConvConfig config;  ///< what is static

  /// Weight and bias from the first and second of split(key).
  static Conv1d init(const Key& key, int64_t in, int64_t out, const WindowArg& kernel,
                     const ConvLayerOptions& options = {}, Loc loc = Loc::current());
  /// As conv1d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// Convolution layer over two spatial axes: f[n, in, h, w] -> f[n, out, h', w'].
///
/// Parameters: weight f32[out, in / groups, k, k], bias f32[out].
struct Conv2d {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = internal::kConvRepr;

  Array weight;                 ///< the kernels
  std::optional<Array> bias;    ///< f32[out]
  internal::ConvConfig config;  ///< what is static

  /// As Conv1d::init.
  static Conv2d init(const Key& key, int64_t in, int64_t out, const WindowArg& kernel,
                     const ConvLayerOptions& options = {}, Loc loc = Loc::current());
  /// As conv2d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// Convolution layer over three spatial axes: f[n, in, d, h, w] -> f[n, out, d', h', w'].
///
/// Parameters: weight f32[out, in / groups, k, k, k], bias f32[out].
struct Conv3d {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = internal::kConvRepr;

  Array weight;                 ///< the kernels
  std::optional<Array> bias;    ///< f32[out]
  internal::ConvConfig config;  ///< what is static

  /// As Conv1d::init.
  static Conv3d init(const Key& key, int64_t in, int64_t out, const WindowArg& kernel,
                     const ConvLayerOptions& options = {}, Loc loc = Loc::current());
  /// As conv3d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// A factory of Conv1d layers; the number of input channels is that of the example f[n, in, d].
inline auto conv1d_layer(int64_t out, WindowArg kernel, ConvLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return Conv1d::init(key, internal::channels_of("Conv1d", 1, x), out, kernel, options);
  });
}

/// A factory of Conv2d layers; the number of input channels is that of the example f[n, in, h, w].
inline auto conv2d_layer(int64_t out, WindowArg kernel, ConvLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return Conv2d::init(key, internal::channels_of("Conv2d", 2, x), out, kernel, options);
  });
}

/// A factory of Conv3d layers; the number of input channels is that of the example f[n, in, d, h,
/// w].
inline auto conv3d_layer(int64_t out, WindowArg kernel, ConvLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return Conv3d::init(key, internal::channels_of("Conv3d", 3, x), out, kernel, options);
  });
}
/// conv2d_layer under a shorter name.
inline auto conv(int64_t out, WindowArg kernel, ConvLayerOptions options = {}) {
  return conv2d_layer(out, std::move(kernel), options);
}

}  // namespace spruce::nn
