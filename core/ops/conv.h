// SPDX-License-Identifier: Apache-2.0
// Convolutions and reductions over windows in full generality; nn/ has those with PyTorch's
// arguments. Both are for 1 to 3 spatial axes.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/primitive.h"

namespace spruce {

/// The primitives of the functions below and of their derivatives: window_argmax and window_argmin
/// name an element of each window (i32[...], -1 for none), window_gather reads the elements that
/// are named so, window_scatter_add is its transpose.
extern const Primitive conv_general_p, reduce_window_sum_p, reduce_window_max_p,
    reduce_window_min_p, window_argmax_p, window_argmin_p, window_gather_p, window_scatter_add_p;

/// How a convolution runs. Each list has one entry a spatial axis; an empty one stands for ones
/// (for padding: zeros).
struct ConvParams {
  Shape strides = {};      ///< of the window
  Shape padding_low = {};  ///< zeros in front of the (dilated) input; negative: elements taken away
  Shape padding_high = {};  ///< the same behind it
  Shape lhs_dilation = {};  ///< distance of neighbours of the input: what lies between is zero
  Shape rhs_dilation = {};  ///< distance of neighbours of the window
  int64_t feature_group_count = 1;  ///< the features are this many groups, each with its own
                                    ///< convolution
  int64_t batch_group_count = 1;    ///< the same for the batch: group i gives the features of group
                                    ///< i of the output
  bool lhs_swapped = false;         ///< the input is [C, N, ...]
  bool rhs_swapped = false;         ///< the window is [I, O / feature_group_count, ...], as of a
                                    ///< transposed convolution
  bool out_swapped = false;         ///< the output is [O, N, ...]
  bool reversed = false;            ///< the window is read backwards along every spatial axis
};

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

/// The windows of a reduction. Each list has one entry for every axis; an empty one stands for ones
/// (padding: zeros).
struct WindowParams {
  Shape window = {};           ///< sizes
  Shape strides = {};          ///< steps from one window to the next
  Shape padding_low = {};      ///< elements that do not count, in front of the (dilated) input; may
                               ///< be negative
  Shape padding_high = {};     ///< the same behind it
  Shape base_dilation = {};    ///< distance of neighbours of the input: nothing lies between
  Shape window_dilation = {};  ///< distance of neighbours of the window
};

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
