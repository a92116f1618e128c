// SPDX-License-Identifier: Apache-2.0
// Pooling into a given number of windows.
#pragma once

#include "spruce/core/op_scope.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/max_unpool.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

/// The mean or the largest element of o windows along each of the last kAxes axes. Window i of an
/// axis of size n goes from floor(i n / o) to ceil((i + 1) n / o), so that neighbours may share
/// elements where o does not divide n.
template <int kAxes>
struct AdaptiveAvgPoolFunction {
  /// f[n, c, d...] or f[c, d...] -> f[n, c, o...]. output_size is o, one number or one for each
  /// axis; -1 leaves an axis as it is. Throws ShapeError.
  Array operator()(const Array& x, const WindowArg& output_size, Loc loc = Loc::current()) const;
};
/// The mean over windows of the last axis.
inline constexpr AdaptiveAvgPoolFunction<1> adaptive_avg_pool1d{};
/// The same over the last two axes.
inline constexpr AdaptiveAvgPoolFunction<2> adaptive_avg_pool2d{};
/// The same over the last three.
inline constexpr AdaptiveAvgPoolFunction<3> adaptive_avg_pool3d{};

/// The largest elements of such windows.
template <int kAxes>
struct AdaptiveMaxPoolFunction {
  /// As AdaptiveAvgPoolFunction. Grad: to the first largest element.
  Array operator()(const Array& x, const WindowArg& output_size, Loc loc = Loc::current()) const;
};
/// The largest element of windows of the last axis.
inline constexpr AdaptiveMaxPoolFunction<1> adaptive_max_pool1d{};
/// The same over the last two axes.
inline constexpr AdaptiveMaxPoolFunction<2> adaptive_max_pool2d{};
/// The same over the last three.
inline constexpr AdaptiveMaxPoolFunction<3> adaptive_max_pool3d{};

/// The largest elements of such windows and where they stand.
template <int kAxes>
struct AdaptiveMaxPoolWithIndicesFunction {
  /// As AdaptiveMaxPoolFunction.
  MaxPoolResult operator()(const Array& x, const WindowArg& output_size,
                           Loc loc = Loc::current()) const;
};
/// Over the last axis.
inline constexpr AdaptiveMaxPoolWithIndicesFunction<1> adaptive_max_pool1d_with_indices{};
/// Over the last two axes.
inline constexpr AdaptiveMaxPoolWithIndicesFunction<2> adaptive_max_pool2d_with_indices{};
/// Over the last three.
inline constexpr AdaptiveMaxPoolWithIndicesFunction<3> adaptive_max_pool3d_with_indices{};

extern template struct AdaptiveAvgPoolFunction<1>;
extern template struct AdaptiveAvgPoolFunction<2>;
extern template struct AdaptiveAvgPoolFunction<3>;
extern template struct AdaptiveMaxPoolFunction<1>;
extern template struct AdaptiveMaxPoolFunction<2>;
extern template struct AdaptiveMaxPoolFunction<3>;
extern template struct AdaptiveMaxPoolWithIndicesFunction<1>;
extern template struct AdaptiveMaxPoolWithIndicesFunction<2>;
extern template struct AdaptiveMaxPoolWithIndicesFunction<3>;

/// Adaptive average pooling as a layer without parameters.
template <int kAxes>
struct AdaptiveAvgPool {
  WindowArg output_size = 1;  ///< numbers of windows; -1 leaves an axis as it is

  /// The result of AdaptiveAvgPoolFunction.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const char* name =
        internal::axes_name<kAxes>("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d");
    const OpScope at(name, loc);
    return internal::observed(*this, name, AdaptiveAvgPoolFunction<kAxes>{}(x, output_size));
  }
};
/// Over the last axis.
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
/// Over the last two axes.
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
/// Over the last three.
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>;

/// Adaptive max pooling as a layer without parameters.
template <int kAxes>
struct AdaptiveMaxPool {
  WindowArg output_size = 1;  ///< numbers of windows; -1 leaves an axis as it is

  /// The result of AdaptiveMaxPoolFunction.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const char* name =
        internal::axes_name<kAxes>("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d");
    const OpScope at(name, loc);
    return internal::observed(*this, name, AdaptiveMaxPoolFunction<kAxes>{}(x, output_size));
  }
};
/// Over the last axis.
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
/// Over the last two axes.
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>;
/// Over the last three.
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>;

}  // namespace spruce::nn
