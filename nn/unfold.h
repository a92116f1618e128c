// SPDX-License-Identifier: Apache-2.0
// Windows of images as columns, and columns added up to images.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/op_scope.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// Options of unfold and fold.
struct UnfoldOptions {
  WindowArg dilation = 1;  ///< distance of the elements under the window
  WindowArg padding = 0;   ///< zeros on both sides
  WindowArg stride = 1;    ///< steps of the window
};
/// The windows of an image: f[n, c, h, w] or f[c, h, w] -> f[n, c kh kw, windows], with the
/// elements of one window in each column, channel by channel, and windows in row-major order.
/// Throws ShapeError where the window does not fit.
inline constexpr struct UnfoldFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const UnfoldOptions& options = {},
                   Loc loc = Loc::current()) const;
} unfold{};
/// The transpose of unfold: f[n, c kh kw, windows] or f[c kh kw, windows] -> f[n, c, h, w] with
/// h, w = output_size. What several windows hold is added up. Throws ShapeError where the columns
/// are not those of such an image.
inline constexpr struct FoldFunction {
  Array operator()(const Array& x, const WindowArg& output_size, const WindowArg& kernel,
                   const UnfoldOptions& options = {}, Loc loc = Loc::current()) const;
} fold{};

/// unfold as a layer without parameters.
struct Unfold {
  WindowArg kernel = 2;    ///< sizes of the window
  WindowArg dilation = 1;  ///< distance of the elements under the window
  WindowArg padding = 0;   ///< zeros on both sides
  WindowArg stride = 1;    ///< steps of the window

  /// The result of unfold.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Unfold", loc);
    return unfold(x, kernel, {dilation, padding, stride});
  }
};
/// fold as a layer without parameters.
struct Fold {
  WindowArg output_size = 2;  ///< of the image
  WindowArg kernel = 2;       ///< sizes of the window
  WindowArg dilation = 1;     ///< distance of the elements under the window
  WindowArg padding = 0;      ///< zeros on both sides
  WindowArg stride = 1;       ///< steps of the window

  /// The result of fold.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Fold", loc);
    return fold(x, output_size, kernel, {dilation, padding, stride});
  }
};

}  // namespace spruce::nn
