// SPDX-License-Identifier: Apache-2.0
// A convolution as the numbers that kernels go by.
#pragma once

#include "spruce/core/rules/conv_params.h"
#include "spruce/core/shape.h"

namespace spruce {

/// A convolution with every axis by its stride in elements; always three spatial axes, padded with
/// ones in front.
///   out[g, n, o, p] = sum over i, k of lhs[g, n, i, (p stride - low + k window_dilation) /
///   dilation] rhs[g, o, i, k]
/// where the division has no rest and the place lies in lhs. The spatial axes are dense in all
/// three.
struct ConvPlan {
  static constexpr int kDims = 3;                    ///< spatial axes
  int64_t groups, batch, in_features, out_features;  ///< the last three of one group
  /// Sizes of the spatial axes.
  int64_t in[kDims], window[kDims], out[kDims];
  /// As in ConvParams; `dilation` is that of lhs.
  int64_t stride[kDims], low[kDims], dilation[kDims], window_dilation[kDims];
  bool reversed;  ///< the window is read backwards
  /// Steps of lhs along its axes but the spatial ones, in elements; those of rhs and out follow.
  int64_t lhs_group, lhs_batch, lhs_feature;
  /// Steps of rhs.
  int64_t rhs_group, rhs_out, rhs_in;
  /// Steps of the output.
  int64_t out_group, out_batch, out_feature;

  /// Elements of the spatial axes of lhs.
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  /// Elements of the spatial axes of rhs.
  int64_t window_size() const { return window[0] * window[1] * window[2]; }
  /// Elements of the spatial axes of the output.
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  /// Places of lhs along axis d, with zeros between and beside its elements, from the first that a
  /// window reads to the last.
  int64_t reach(int d) const {
    return (out[d] - 1) * stride[d] + (window[d] - 1) * window_dilation[d] + 1;
  }
  /// At least the product of the three, which need not fit an integer.
  double places() const {
    double n = 1;
    for (int d = 0; d < kDims; ++d) {
      n *= static_cast<double>(out[d]) * static_cast<double>(stride[d]) +
           static_cast<double>(window[d]) * static_cast<double>(window_dilation[d]);
    }
    return n;
  }
  /// True if no zeros stand between the elements of lhs.
  bool dense() const { return dilation[0] == 1 && dilation[1] == 1 && dilation[2] == 1; }
  /// True for a window of one element that visits every place: a matrix product.
  bool pointwise() const {
    for (int d = 0; d < kDims; ++d) {
      if (window[d] != 1 || stride[d] != 1 || low[d] != 0 || dilation[d] != 1 || in[d] != out[d])
        return false;
    }
    return true;
  }
  /// Multiply-adds, those with zeros of the padding among them.
  double work() const {
    return static_cast<double>(groups * batch * out_features) * static_cast<double>(in_features) *
           static_cast<double>(window_size()) * static_cast<double>(out_size());
  }
};

/// The problem for operands and a result of these shapes.
ConvPlan plan_conv(const Shape& lhs, const Shape& rhs, const Shape& out, const ConvParams& params);

}  // namespace spruce
