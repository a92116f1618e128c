// SPDX-License-Identifier: Apache-2.0
// PyTorch's lazy layers by name: modules that take the number of their input's features or channels
// from the first call, as lazy() does with any factory.
//
//   nn::Stateful<nn::Linear> fc = register_module("fc", nn::LazyLinear(key, 64));
//
// The constructors are templates so that a program that uses none does not compile what they need.
#pragma once

#include <concepts>

#include "spruce/nn/conv.h"
#include "spruce/nn/conv_transpose.h"
#include "spruce/nn/layer_factories.h"
#include "spruce/nn/norm.h"
#include "spruce/nn/stateful.h"

namespace spruce::nn {

/// A Linear layer: f[..., in], with `in` from the first call.
struct LazyLinear : Stateful<Linear> {
  template <std::same_as<LinearOptions> O = LinearOptions>
  LazyLinear(const Key& key, int64_t out_features, O options = {})
      : Stateful(lazy(key, linear_layer(out_features, options))) {}
};

/// A Conv1d layer: f[n, in, w].
struct LazyConv1d : Stateful<Conv1d> {
  template <std::same_as<ConvLayerOptions> O = ConvLayerOptions>
  LazyConv1d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv1d_layer(out, std::move(kernel), options))) {}
};
/// A Conv2d layer: f[n, in, h, w].
struct LazyConv2d : Stateful<Conv2d> {
  template <std::same_as<ConvLayerOptions> O = ConvLayerOptions>
  LazyConv2d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv2d_layer(out, std::move(kernel), options))) {}
};
/// A Conv3d layer: f[n, in, d, h, w].
struct LazyConv3d : Stateful<Conv3d> {
  template <std::same_as<ConvLayerOptions> O = ConvLayerOptions>
  LazyConv3d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv3d_layer(out, std::move(kernel), options))) {}
};

/// A ConvTranspose1d layer: f[n, in, w].
struct LazyConvTranspose1d : Stateful<ConvTranspose1d> {
  template <std::same_as<ConvTransposeLayerOptions> O = ConvTransposeLayerOptions>
  LazyConvTranspose1d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv_transpose1d_layer(out, std::move(kernel), options))) {}
};
/// A ConvTranspose2d layer: f[n, in, h, w].
struct LazyConvTranspose2d : Stateful<ConvTranspose2d> {
  template <std::same_as<ConvTransposeLayerOptions> O = ConvTransposeLayerOptions>
  LazyConvTranspose2d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv_transpose2d_layer(out, std::move(kernel), options))) {}
};
/// A ConvTranspose3d layer: f[n, in, d, h, w].
struct LazyConvTranspose3d : Stateful<ConvTranspose3d> {
  template <std::same_as<ConvTransposeLayerOptions> O = ConvTransposeLayerOptions>
  LazyConvTranspose3d(const Key& key, int64_t out, WindowArg kernel, O options = {})
      : Stateful(lazy(key, conv_transpose3d_layer(out, std::move(kernel), options))) {}
};

/// A BatchNorm layer over axis 1 of any rank. It draws nothing and needs no key.
struct LazyBatchNorm : Stateful<BatchNorm> {
  template <std::same_as<BatchNormLayerOptions> O = BatchNormLayerOptions>
  explicit LazyBatchNorm(O options = {}) : Stateful(lazy(Key(0), batch_norm_layer(options))) {}
};
using LazyBatchNorm1d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm1d
using LazyBatchNorm2d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm2d
using LazyBatchNorm3d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm3d

/// An InstanceNorm1d layer: f[n, c, d] or f[c, d].
struct LazyInstanceNorm1d : Stateful<InstanceNorm1d> {
  template <std::same_as<InstanceNormLayerOptions> O = InstanceNormLayerOptions>
  explicit LazyInstanceNorm1d(O options = {})
      : Stateful(lazy(Key(0), instance_norm1d_layer(options))) {}
};
/// An InstanceNorm2d layer: f[n, c, h, w] or f[c, h, w].
struct LazyInstanceNorm2d : Stateful<InstanceNorm2d> {
  template <std::same_as<InstanceNormLayerOptions> O = InstanceNormLayerOptions>
  explicit LazyInstanceNorm2d(O options = {})
      : Stateful(lazy(Key(0), instance_norm2d_layer(options))) {}
};
/// An InstanceNorm3d layer: f[n, c, d, h, w] or f[c, d, h, w].
struct LazyInstanceNorm3d : Stateful<InstanceNorm3d> {
  template <std::same_as<InstanceNormLayerOptions> O = InstanceNormLayerOptions>
  explicit LazyInstanceNorm3d(O options = {})
      : Stateful(lazy(Key(0), instance_norm3d_layer(options))) {}
};

}  // namespace spruce::nn
