// SPDX-License-Identifier: Apache-2.0
// PyTorch's lazy layers by name: modules that take the number of their input's features or channels
// from the first call, as lazy() does with any factory.
//
//   nn::Stateful<nn::Linear> fc = register_module("fc", nn::LazyLinear(key, 64));
#pragma once

#include "spruce/nn/conv.h"
#include "spruce/nn/conv_transpose.h"
#include "spruce/nn/layer_factories.h"
#include "spruce/nn/norm.h"
#include "spruce/nn/stateful.h"

namespace spruce::nn {

/// A Linear layer: f[..., in], with `in` from the first call.
struct LazyLinear : Stateful<Linear> {
  LazyLinear(const Key& key, int64_t out_features, LinearOptions options = {})
      : Stateful(lazy(key, linear_layer(out_features, options))) {}
};

/// A Conv1d layer: f[n, in, w].
struct LazyConv1d : Stateful<Conv1d> {
  LazyConv1d(const Key& key, int64_t out, WindowArg kernel, ConvLayerOptions options = {})
      : Stateful(lazy(key, conv1d_layer(out, std::move(kernel), options))) {}
};
/// A Conv2d layer: f[n, in, h, w].
struct LazyConv2d : Stateful<Conv2d> {
  LazyConv2d(const Key& key, int64_t out, WindowArg kernel, ConvLayerOptions options = {})
      : Stateful(lazy(key, conv2d_layer(out, std::move(kernel), options))) {}
};
/// A Conv3d layer: f[n, in, d, h, w].
struct LazyConv3d : Stateful<Conv3d> {
  LazyConv3d(const Key& key, int64_t out, WindowArg kernel, ConvLayerOptions options = {})
      : Stateful(lazy(key, conv3d_layer(out, std::move(kernel), options))) {}
};

/// A ConvTranspose1d layer: f[n, in, w].
struct LazyConvTranspose1d : Stateful<ConvTranspose1d> {
  LazyConvTranspose1d(const Key& key, int64_t out, WindowArg kernel,
                      ConvTransposeLayerOptions options = {})
      : Stateful(lazy(key, conv_transpose1d_layer(out, std::move(kernel), options))) {}
};
/// A ConvTranspose2d layer: f[n, in, h, w].
struct LazyConvTranspose2d : Stateful<ConvTranspose2d> {
  LazyConvTranspose2d(const Key& key, int64_t out, WindowArg kernel,
                      ConvTransposeLayerOptions options = {})
      : Stateful(lazy(key, conv_transpose2d_layer(out, std::move(kernel), options))) {}
};
/// A ConvTranspose3d layer: f[n, in, d, h, w].
struct LazyConvTranspose3d : Stateful<ConvTranspose3d> {
  LazyConvTranspose3d(const Key& key, int64_t out, WindowArg kernel,
                      ConvTransposeLayerOptions options = {})
      : Stateful(lazy(key, conv_transpose3d_layer(out, std::move(kernel), options))) {}
};

/// A BatchNorm layer over axis 1 of any rank. It draws nothing and needs no key.
struct LazyBatchNorm : Stateful<BatchNorm> {
  explicit LazyBatchNorm(BatchNormLayerOptions options = {})
      : Stateful(lazy(Key(0), batch_norm_layer(options))) {}
};
using LazyBatchNorm1d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm1d
using LazyBatchNorm2d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm2d
using LazyBatchNorm3d = LazyBatchNorm;  ///< the rank is not checked, as in BatchNorm3d

/// An InstanceNorm1d layer: f[n, c, d] or f[c, d].
struct LazyInstanceNorm1d : Stateful<InstanceNorm1d> {
  explicit LazyInstanceNorm1d(InstanceNormLayerOptions options = {})
      : Stateful(lazy(Key(0), instance_norm1d_layer(options))) {}
};
/// An InstanceNorm2d layer: f[n, c, h, w] or f[c, h, w].
struct LazyInstanceNorm2d : Stateful<InstanceNorm2d> {
  explicit LazyInstanceNorm2d(InstanceNormLayerOptions options = {})
      : Stateful(lazy(Key(0), instance_norm2d_layer(options))) {}
};
/// An InstanceNorm3d layer: f[n, c, d, h, w] or f[c, d, h, w].
struct LazyInstanceNorm3d : Stateful<InstanceNorm3d> {
  explicit LazyInstanceNorm3d(InstanceNormLayerOptions options = {})
      : Stateful(lazy(Key(0), instance_norm3d_layer(options))) {}
};

}  // namespace spruce::nn
