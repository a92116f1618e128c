// SPDX-License-Identifier: Apache-2.0
// Max pooling over windows that stand at random places.
#pragma once

#include <vector>

#include "spruce/core/op_scope.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/context.h"
#include "spruce/nn/interpolate.h"
#include "spruce/nn/max_unpool.h"

namespace spruce::nn {

/// Options of fractional_max_pool2d and fractional_max_pool3d: output_size or output_ratio, and a
/// key or the samples.
struct FractionalMaxPoolOptions {
  WindowArg output_size = Shape{};  ///< of the spatial axes of the result
  ScaleArg output_ratio = {};       ///< or its share of the input, between 0 and 1
  Key key = {};                     ///< draws the samples
  Array random_samples = {};  ///< f[n, c, axes] in [0, 1), f[1, c, axes] without a batch: where
                              ///< windows begin, given instead of a key
};
/// The largest elements of windows whose steps are random: on the average the input's size divided
/// by the output's, which need not be whole (Graham 2014).
template <int kAxes>
struct FractionalMaxPoolWithIndicesFunction {
  /// f[n, c, d...] or f[c, d...] -> f[n, c, o...]. Throws ShapeError where sizes do not fit,
  /// ValueError without exactly one of output_size and output_ratio, or without key and samples.
  MaxPoolResult operator()(const Array& x, const WindowArg& kernel,
                           const FractionalMaxPoolOptions& options, Loc loc = Loc::current()) const;
};
/// Over the last two axes.
inline constexpr FractionalMaxPoolWithIndicesFunction<2> fractional_max_pool2d_with_indices{};
/// Over the last three.
inline constexpr FractionalMaxPoolWithIndicesFunction<3> fractional_max_pool3d_with_indices{};

/// The same without the indices.
template <int kAxes>
struct FractionalMaxPoolFunction {
  /// As FractionalMaxPoolWithIndicesFunction.
  Array operator()(const Array& x, const WindowArg& kernel, const FractionalMaxPoolOptions& options,
                   Loc loc = Loc::current()) const;
};
/// Over the last two axes.
inline constexpr FractionalMaxPoolFunction<2> fractional_max_pool2d{};
/// Over the last three.
inline constexpr FractionalMaxPoolFunction<3> fractional_max_pool3d{};

extern template struct FractionalMaxPoolWithIndicesFunction<2>;
extern template struct FractionalMaxPoolWithIndicesFunction<3>;
extern template struct FractionalMaxPoolFunction<2>;
extern template struct FractionalMaxPoolFunction<3>;

/// Fractional max pooling as a layer without parameters: draws a key from the context, in both
/// modes.
template <int kAxes>
struct FractionalMaxPool {
  WindowArg kernel = 2;             ///< sizes of the window
  WindowArg output_size = Shape{};  ///< of the spatial axes of the result
  ScaleArg output_ratio = {};       ///< or its share of the input

  /// The result of FractionalMaxPoolFunction. Throws ValueError for a context without a key.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    constexpr const char* kName =
        internal::axes_name<kAxes>("", "FractionalMaxPool2d", "FractionalMaxPool3d");
    const OpScope at(kName, loc);
    return FractionalMaxPoolFunction<kAxes>{}(x, kernel,
                                              {.output_size = output_size,
                                               .output_ratio = output_ratio,
                                               .key = ctx.next_key(kName, *this)});
  }
};
/// Over the last two axes.
using FractionalMaxPool2d = FractionalMaxPool<2>;
/// Over the last three.
using FractionalMaxPool3d = FractionalMaxPool<3>;

}  // namespace spruce::nn
