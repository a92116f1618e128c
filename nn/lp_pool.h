// SPDX-License-Identifier: Apache-2.0
// Pooling by power averages.
#pragma once

#include "spruce/core/op_scope.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/pool.h"

namespace spruce::nn {

/// Options of lp_pool1d, lp_pool2d and lp_pool3d.
struct LpPoolOptions {
  WindowArg stride = Shape{};  ///< empty: the size of the window
  bool ceil_mode = false;      ///< windows may end outside
};
/// (sum of x^p)^(1/p) over each window, p = norm_type: the sum for 1, near the largest element for
/// large p. As in PyTorch, a sum that is negative counts by its sign: it is the root of a negative
/// number then, NaN but for p = 1; and a window that ends outside is scaled to the full one.
template <int kAxes>
struct LpPoolFunction {
  /// f[n, c, d...] or f[c, d...] -> f[n, c, d'...]. Grad: not finite where the sum is 0, but for p
  /// =
  /// 1. Throws ShapeError, and ValueError for a norm_type of 0.
  Array operator()(const Array& x, double norm_type, const WindowArg& kernel,
                   const LpPoolOptions& options = {}, Loc loc = Loc::current()) const;
};
/// Over the last axis.
inline constexpr LpPoolFunction<1> lp_pool1d{};
/// Over the last two axes.
inline constexpr LpPoolFunction<2> lp_pool2d{};
/// Over the last three.
inline constexpr LpPoolFunction<3> lp_pool3d{};

extern template struct LpPoolFunction<1>;
extern template struct LpPoolFunction<2>;
extern template struct LpPoolFunction<3>;

/// Power-average pooling as a layer without parameters.
template <int kAxes>
struct LPPool {
  double norm_type = 2;        ///< the power
  WindowArg kernel = 2;        ///< sizes of the window
  WindowArg stride = Shape{};  ///< empty: the size of the window
  bool ceil_mode = false;      ///< windows may end outside

  /// The result of LpPoolFunction.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at(internal::axes_name<kAxes>("LPPool1d", "LPPool2d", "LPPool3d"), loc);
    return LpPoolFunction<kAxes>{}(x, norm_type, kernel, {stride, ceil_mode});
  }
};
/// Over the last axis.
using LPPool1d = LPPool<1>;
/// Over the last two axes.
using LPPool2d = LPPool<2>;
/// Over the last three.
using LPPool3d = LPPool<3>;

}  // namespace spruce::nn
