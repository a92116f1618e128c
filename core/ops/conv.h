// SPDX-License-Identifier: Apache-2.0
// Convolutions and reductions over windows in full generality; nn/ has those with PyTorch's
// arguments. Both are for 1 to 3 spatial axes.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/rules/conv_params.h"

namespace spruce {

/// The convolution (a correlation, unless `reversed`) of f[N, C, ...] with windows f[O, C /
/// feature_group_count, ...]:
///   y[n, o, p] = sum over i, k of x[n, i, p strides + k rhs_dilation - padding_low] w[o, i, k]
/// with x dilated by lhs_dilation and zero outside. The size of a spatial axis is
/// (dilated x + padding - dilated window) / strides + 1, rounded down, and at least 0. Its
/// derivatives are convolutions of the same kind, without copies: that is what the *_swapped and
/// `reversed` are for. f16 and bf16 accumulate in f32. Throws ShapeError for ranks, features,
/// groups or lists that do not fit.
inline constexpr struct ConvGeneralFunction {
  Array operator()(const Array& x, const Array& w, const ConvParams& params = {},
                   Loc loc = Loc::current()) const;
} conv_general{};

/// The sum over each window: f[...] -> f[...]. f16 and bf16 accumulate in f32. Throws ShapeError.
inline constexpr struct ReduceWindowSumFunction {
  Array operator()(const Array& x, const WindowParams& params, Loc loc = Loc::current()) const;
} reduce_window_sum{};
/// The largest element of each window; -inf (the lowest integer, false) where it holds none; the
/// first NaN wins. Grad: all of g to the element that was taken: the first of the largest ones, or
/// the first NaN, in row-major order. Throws ShapeError.
inline constexpr struct ReduceWindowMaxFunction {
  Array operator()(const Array& x, const WindowParams& params, Loc loc = Loc::current()) const;
} reduce_window_max{};
/// The smallest element of each window, likewise.
inline constexpr struct ReduceWindowMinFunction {
  Array operator()(const Array& x, const WindowParams& params, Loc loc = Loc::current()) const;
} reduce_window_min{};

}  // namespace spruce
