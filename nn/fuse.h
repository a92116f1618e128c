// SPDX-License-Identifier: Apache-2.0
// A convolution or linear layer and the batch norm behind it as one layer, for inference.
#pragma once

#include "spruce/nn/conv.h"
#include "spruce/nn/conv_transpose.h"
#include "spruce/nn/linear.h"
#include "spruce/nn/norm.h"

namespace spruce::nn {

/// One layer that gives what `norm` in evaluation mode gives behind `layer`: its weight and bias
/// are scaled and moved by the running statistics. Throws ValueError for a norm without running
/// statistics, ShapeError where the norm has another number of channels.
inline constexpr struct FuseConvBnFunction {
  Conv1d operator()(const Conv1d& layer, const BatchNorm& norm, Loc loc = Loc::current()) const;
  Conv2d operator()(const Conv2d& layer, const BatchNorm& norm, Loc loc = Loc::current()) const;
  Conv3d operator()(const Conv3d& layer, const BatchNorm& norm, Loc loc = Loc::current()) const;
  /// Transposed convolutions have their outputs on axis 1 of the weight, group by group.
  ConvTranspose1d operator()(const ConvTranspose1d& layer, const BatchNorm& norm,
                             Loc loc = Loc::current()) const;
  ConvTranspose2d operator()(const ConvTranspose2d& layer, const BatchNorm& norm,
                             Loc loc = Loc::current()) const;
  ConvTranspose3d operator()(const ConvTranspose3d& layer, const BatchNorm& norm,
                             Loc loc = Loc::current()) const;
} fuse_conv_bn{};
/// The same for a linear layer on f[n, in].
inline constexpr struct FuseLinearBnFunction {
  Linear operator()(const Linear& layer, const BatchNorm& norm, Loc loc = Loc::current()) const;
} fuse_linear_bn{};

}  // namespace spruce::nn
