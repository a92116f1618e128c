// SPDX-License-Identifier: Apache-2.0
// Max pooling that tells where the elements stood, and its partial inverse.
#pragma once

#include "spruce/core/op_scope.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/pool.h"

namespace spruce::nn {

/// What a pooling with indices returns.
struct MaxPoolResult {
  Array output;   ///< the largest elements
  Array indices;  ///< i32 of the same shape (i64 where the spatial axes need it): the place of each
                  ///< in its spatial axes, flattened
};

/// max_pool1d, max_pool2d and max_pool3d with the places of the largest elements.
template <int kAxes>
struct MaxPoolWithIndicesFunction {
  /// As max_pool2d; of equal elements the first is named, -1 where a window holds none. Throws
  /// ShapeError.
  MaxPoolResult operator()(const Array& x, const WindowArg& kernel,
                           const MaxPoolOptions& options = {}, Loc loc = Loc::current()) const;
};
/// Over the last axis.
inline constexpr MaxPoolWithIndicesFunction<1> max_pool1d_with_indices{};
/// Over the last two axes.
inline constexpr MaxPoolWithIndicesFunction<2> max_pool2d_with_indices{};
/// Over the last three.
inline constexpr MaxPoolWithIndicesFunction<3> max_pool3d_with_indices{};

/// Options of max_unpool1d, max_unpool2d and max_unpool3d.
struct MaxUnpoolOptions {
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< that of the pooling
  WindowArg output_size =
      Shape{};  ///< spatial sizes of the result; empty: (d - 1) stride - 2 padding
                ///< + kernel
};
/// Elements put back to the places that a pooling with indices named, zeros elsewhere.
template <int kAxes>
struct MaxUnpoolFunction {
  /// x and indices f, i[n, c, d...] or [c, d...] -> f[n, c, d'...]. Where places are equal, one of
  /// the elements stays. Throws ShapeError where shapes or options do not fit, DtypeError unless
  /// the indices are integers, IndexError for a place that is known to be outside (one that is not
  /// known is left out). Grad: to the elements.
  Array operator()(const Array& x, const Array& indices, const WindowArg& kernel,
                   const MaxUnpoolOptions& options = {}, Loc loc = Loc::current()) const;
};
/// Over the last axis.
inline constexpr MaxUnpoolFunction<1> max_unpool1d{};
/// Over the last two axes.
inline constexpr MaxUnpoolFunction<2> max_unpool2d{};
/// Over the last three.
inline constexpr MaxUnpoolFunction<3> max_unpool3d{};

extern template struct MaxPoolWithIndicesFunction<1>;
extern template struct MaxPoolWithIndicesFunction<2>;
extern template struct MaxPoolWithIndicesFunction<3>;
extern template struct MaxUnpoolFunction<1>;
extern template struct MaxUnpoolFunction<2>;
extern template struct MaxUnpoolFunction<3>;

/// Unpooling as a layer without parameters.
template <int kAxes>
struct MaxUnpool {
  WindowArg kernel = 2;             ///< sizes of the window
  WindowArg stride = Shape{};       ///< empty: the size of the window
  WindowArg padding = 0;            ///< that of the pooling
  WindowArg output_size = Shape{};  ///< as in MaxUnpoolOptions

  /// The result of MaxUnpoolFunction.
  Array operator()(const Array& x, const Array& indices, Loc loc = Loc::current()) const {
    const OpScope at(internal::axes_name<kAxes>("MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"), loc);
    return MaxUnpoolFunction<kAxes>{}(x, indices, kernel, {stride, padding, output_size});
  }
};
/// Over the last axis.
using MaxUnpool1d = MaxUnpool<1>;
/// Over the last two axes.
using MaxUnpool2d = MaxUnpool<2>;
/// Over the last three.
using MaxUnpool3d = MaxUnpool<3>;

}  // namespace spruce::nn
