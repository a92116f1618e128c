// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: those that make images larger.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/factory.h"
#include "spruce/nn/initializer.h"
#include "spruce/nn/spatial_axes.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// Options of conv_transpose1d, conv_transpose2d and conv_transpose3d, in PyTorch's order.
struct ConvTransposeOptions {
  WindowArg stride = 1;          ///< distance of neighbours of the input in the output
  WindowArg padding = 0;         ///< elements taken away on both sides of the output
  WindowArg output_padding = 0;  ///< elements more behind, fewer than stride or dilation
  int64_t groups = 1;            ///< parts of the channels that do not see each other
  WindowArg dilation = 1;        ///< distance of the elements under the window
};

/// The transpose of a convolution: what is the gradient of its input. An axis of size d becomes
/// (d - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1.
template <int kAxes>
struct ConvTransposeFunction {
  /// x f[n, in, d...] or f[in, d...], weight f[in, out / groups, k...], bias f[out] or undefined ->
  /// f[n, out, d'...]. Throws ShapeError, naming shapes and options, where they do not fit.
  Array operator()(const Array& x, const Array& weight, const Array& bias = {},
                   const ConvTransposeOptions& options = {}, Loc loc = Loc::current()) const;
};
/// Over one spatial axis.
inline constexpr ConvTransposeFunction<1> conv_transpose1d{};
/// Over two spatial axes.
inline constexpr ConvTransposeFunction<2> conv_transpose2d{};
/// Over three spatial axes.
inline constexpr ConvTransposeFunction<3> conv_transpose3d{};

/// Options of ConvTranspose1d, ConvTranspose2d, ConvTranspose3d and their factories.
struct ConvTransposeLayerOptions {
  WindowArg stride = 1;          ///< distance of neighbours of the input in the output
  WindowArg padding = 0;         ///< elements taken away on both sides of the output
  WindowArg output_padding = 0;  ///< elements more behind
  int64_t groups = 1;            ///< parts of the channels that do not see each other
  bool bias = true;              ///< whether there is one
  WindowArg dilation = 1;        ///< distance of the elements under the window
  Dtype dtype = float32;         ///< of the parameters
  Device* device = nullptr;      ///< where they are made; null: the default device
  init::LayerInit init = {};     ///< how they begin, if not as PyTorch's
};

/// Transposed convolution over kAxes spatial axes: f[n, in, d...] -> f[n, out, d'...].
///
/// Parameters: weight f32[in, out / groups, k...], bias f32[out]; both uniform in
/// +-1/sqrt(out / groups * k...), as PyTorch's default.
template <int kAxes>
struct ConvTranspose {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "in_channels=weight.0 out_channels=weight.1*groups kernel_size=weight.2+ stride:stride "
      "padding:padding output_padding:output_padding groups:groups bias?bias";

  Array weight;                  ///< the kernels
  std::optional<Array> bias;     ///< f32[out]
  WindowArg stride = 1;          ///< as in ConvTransposeOptions
  WindowArg padding = 0;         ///< as in ConvTransposeOptions
  WindowArg output_padding = 0;  ///< as in ConvTransposeOptions
  int64_t groups = 1;            ///< as in ConvTransposeOptions
  WindowArg dilation = 1;        ///< as in ConvTransposeOptions

  /// Weight and bias from the first and second of split(key). Throws ShapeError for sizes or
  /// options that do not fit.
  static ConvTranspose init(const Key& key, int64_t in, int64_t out, const WindowArg& kernel,
                            const ConvTransposeLayerOptions& options = {},
                            Loc loc = Loc::current());
  /// As ConvTransposeFunction.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// f[n, in, d] -> f[n, out, d'].
using ConvTranspose1d = ConvTranspose<1>;
/// f[n, in, h, w] -> f[n, out, h', w'].
using ConvTranspose2d = ConvTranspose<2>;
/// f[n, in, d, h, w] -> f[n, out, d', h', w'].
using ConvTranspose3d = ConvTranspose<3>;

extern template struct ConvTransposeFunction<1>;
extern template struct ConvTransposeFunction<2>;
extern template struct ConvTransposeFunction<3>;
extern template struct ConvTranspose<1>;
extern template struct ConvTranspose<2>;
extern template struct ConvTranspose<3>;

/// A factory of ConvTranspose1d layers; the number of input channels is that of the example
/// f[n, in, d].
inline auto conv_transpose1d_layer(int64_t out, WindowArg kernel,
                                   ConvTransposeLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return ConvTranspose1d::init(key, internal::channels_of("ConvTranspose1d", 1, x), out, kernel,
                                 options);
  });
}
/// A factory of ConvTranspose2d layers; the number of input channels is that of the example
/// f[n, in, h, w].
inline auto conv_transpose2d_layer(int64_t out, WindowArg kernel,
                                   ConvTransposeLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return ConvTranspose2d::init(key, internal::channels_of("ConvTranspose2d", 2, x), out, kernel,
                                 options);
  });
}

}  // namespace spruce::nn
