// SPDX-License-Identifier: Apache-2.0
// What reductions over windows have in common.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/rules/conv_params.h"
#include "spruce/core/rules/row_blocks.h"

namespace spruce {

/// Reductions over windows and what their derivatives are made of: window_argmax and window_argmin
/// name an element of each window (i32[...], -1 for none), window_gather reads the elements that
/// are named so, window_scatter_add is its transpose.
extern const Primitive reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p,
    window_argmax_p, window_argmin_p, window_gather_p, window_scatter_add_p;

/// window_gather reads the tap of each window that the indices name, or `fill` where there is no
/// such element.
struct WindowGatherParams {
  /// As in WindowParams, one entry for each axis.
  Shape window, strides, padding_low, padding_high, base_dilation, window_dilation;
  /// Where an index names no element.
  double fill = 0;
};
/// window_scatter_add adds each element to the one that window_gather would read from an input of
/// `shape`.
struct WindowScatterParams {
  /// As in WindowParams, one entry for each axis.
  Shape window, strides, padding_low, padding_high, base_dilation, window_dilation;
  Shape shape;  ///< of the output
};

namespace rules {

/// The windows among the parameters of any primitive here.
template <class P>
WindowParams windows_of(const P& p) {
  return {p.window, p.strides, p.padding_low, p.padding_high, p.base_dilation, p.window_dilation};
}
/// `p` with these windows.
template <class P>
P with_windows(P p, const WindowParams& w) {
  p.window = w.window, p.strides = w.strides, p.padding_low = w.padding_low,
  p.padding_high = w.padding_high;
  p.base_dilation = w.base_dilation, p.window_dilation = w.window_dilation;
  return p;
}
/// With one more axis in front that each window has one element of: for vmap.
WindowParams with_front_axis(const WindowParams& w);

/// True if each place along the first axis is a window of its own.
bool leaves_rows(const WindowParams& w);
/// The rule about rows of primitives with windows.
template <class P>
RowReads rows_of_windows(const RowArgs& a) {
  if (!leaves_rows(windows_of(a.params.get<P>()))) return {};
  return rows_alike(a);
}

/// The shape of a reduction of `in` over windows. Throws ShapeError naming `op`.
Shape window_shape(const char* op, const Aval& in, const WindowParams& w);
/// The shape rule of reductions over windows: the dtype of the input. Throws ShapeError.
Aval window_reduced(const ShapeArgs& a);
/// The same for anything but bool.
Aval window_reduced_numeric(const ShapeArgs& a);
/// The same with i32 elements, which number the places in a window.
Aval window_indices(const ShapeArgs& a);

/// jvp of reduce_window_max and _min, by the indices of `arg` and with `fill` where a window holds
/// nothing.
void jvp_window(const JvpArgs& a, const Primitive& arg, double fill);
/// vmap of reductions over windows.
void batch_window(const BatchArgs& a);

/// Samples with all kinds of windows, of f32 without ties.
std::vector<Sample> window_samples();
/// The windows of these samples, with the shape that they are for.
struct WindowCase {
  Shape shape;          ///< of the input
  WindowParams params;  ///< the windows
};
/// All kinds of windows: strides, paddings, dilations, arrays without elements or axes.
std::vector<WindowCase> window_cases();

}  // namespace rules
}  // namespace spruce
