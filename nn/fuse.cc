// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/fuse.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {
namespace {

// Scales the outputs of a weight, which are on its first axis; of a transposed convolution with
// `groups` they are on the second, and group by group on the first.
void fuse(const char* op, Array& weight, std::optional<Array>& bias, int64_t groups,
          const BatchNorm& norm) {
  spruce::internal::require_defined(op, "weight", weight);
  if (!norm.running_mean || !norm.running_var) {
    throw ValueError(std::string(op) +
                     ": the norm has no running statistics; make it with track_running_stats");
  }
  const Array &mean = norm.running_mean->value, &variance = norm.running_var->value;
  const bool transposed = groups > 0;
  const int64_t out = transposed ? weight.shape(1) * groups : weight.shape(0);
  if (mean.shape() != Shape{out}) {
    throw ShapeError(std::string(op) + ": the layer has " + std::to_string(out) +
                     " outputs, and the norm is of " + to_string(mean.aval()));
  }
  Array scale = rsqrt(variance + norm.eps);
  if (norm.weight) scale = scale * *norm.weight;
  Array shift = (bias ? *bias - mean : -mean) * scale;
  if (norm.bias) shift = shift + *norm.bias;
  // As [groups, in / groups, out / groups, window] or [out, rest].
  const Shape shape = weight.shape();
  const Shape parts =
      transposed ? Shape{groups, shape[0] / groups, shape[1], -1} : Shape{shape[0], -1};
  const Array factors =
      transposed ? reshape(scale, {groups, 1, shape[1], 1}) : expand_dims(scale, 1);
  const Dtype dtype = weight.dtype();
  weight = astype(reshape(reshape(weight, parts) * factors, shape), dtype);
  bias = astype(shift, dtype);
}

template <class Layer>
Layer fused(const char* op, Layer layer, int64_t groups, const BatchNorm& norm, Loc loc) {
  const OpScope at(op, loc);
  fuse(op, layer.weight, layer.bias, groups, norm);
  return layer;
}

}  // namespace

Conv1d FuseConvBnFunction::operator()(const Conv1d& l, const BatchNorm& norm, Loc loc) const {
  return fused("fuse_conv_bn", l, 0, norm, loc);
}
Conv2d FuseConvBnFunction::operator()(const Conv2d& l, const BatchNorm& norm, Loc loc) const {
  return fused("fuse_conv_bn", l, 0, norm, loc);
}
Conv3d FuseConvBnFunction::operator()(const Conv3d& l, const BatchNorm& norm, Loc loc) const {
  return fused("fuse_conv_bn", l, 0, norm, loc);
}
ConvTranspose1d FuseConvBnFunction::operator()(const ConvTranspose1d& l, const BatchNorm& norm,
                                               Loc loc) const {
  return fused("fuse_conv_bn", l, l.groups, norm, loc);
}
ConvTranspose2d FuseConvBnFunction::operator()(const ConvTranspose2d& l, const BatchNorm& norm,
                                               Loc loc) const {
  return fused("fuse_conv_bn", l, l.groups, norm, loc);
}
ConvTranspose3d FuseConvBnFunction::operator()(const ConvTranspose3d& l, const BatchNorm& norm,
                                               Loc loc) const {
  return fused("fuse_conv_bn", l, l.groups, norm, loc);
}

Linear FuseLinearBnFunction::operator()(const Linear& l, const BatchNorm& norm, Loc loc) const {
  return fused("fuse_linear_bn", l, 0, norm, loc);
}

}  // namespace spruce::nn
