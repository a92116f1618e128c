// SPDX-License-Identifier: Apache-2.0
// Pooling over windows.
#pragma once

#include <optional>

#include "spruce/nn/factory.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// Options of max_pool1d, max_pool2d and max_pool3d. With ceil_mode a window may be larger than the
/// padded input, by less than its stride.
struct MaxPoolOptions {
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< at most half of the window
  WindowArg dilation = 1;      ///< distance of the elements under the window
  bool ceil_mode = false;      ///< windows may begin inside and end outside
};
/// The largest element of each window over the last axis of f[n, c, d] or f[c, d]. Grad: to the
/// first largest element. Throws ShapeError.
inline constexpr struct MaxPool1dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} max_pool1d{};
/// The same over the last two axes.
inline constexpr struct MaxPool2dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} max_pool2d{};
/// The same over the last three.
inline constexpr struct MaxPool3dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} max_pool3d{};

/// Options of avg_pool1d, avg_pool2d and avg_pool3d; ceil_mode as in MaxPoolOptions.
struct AvgPoolOptions {
  WindowArg stride = Shape{};                    ///< empty: the size of the window
  WindowArg padding = 0;                         ///< at most half of the window
  bool ceil_mode = false;                        ///< windows may begin inside and end outside
  bool count_include_pad = true;                 ///< whether padding counts in the divisor
  std::optional<int64_t> divisor_override = {};  ///< the divisor, whatever the window holds
};
/// The mean of each window over the last axis of f[n, c, d] or f[c, d]; of f16 and bf16 summed in
/// f32. Throws ShapeError, and ValueError for a divisor_override of 0.
inline constexpr struct AvgPool1dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} avg_pool1d{};
/// The same over the last two axes.
inline constexpr struct AvgPool2dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} avg_pool2d{};
/// The same over the last three.
inline constexpr struct AvgPool3dFunction {
  Array operator()(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                   Loc loc = Loc::current()) const;
} avg_pool3d{};

/// max_pool1d as a layer without parameters.
struct MaxPool1d {
  WindowArg kernel = 2;        ///< sizes of the window
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< at most half of the window
  WindowArg dilation = 1;      ///< distance of the elements under the window
  bool ceil_mode = false;      ///< windows may begin inside and end outside

  /// The result of max_pool1d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// max_pool2d as a layer without parameters.
struct MaxPool2d {
  WindowArg kernel = 2;        ///< sizes of the window
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< at most half of the window
  WindowArg dilation = 1;      ///< distance of the elements under the window
  bool ceil_mode = false;      ///< windows may begin inside and end outside

  /// The result of max_pool2d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// max_pool3d as a layer without parameters.
struct MaxPool3d {
  WindowArg kernel = 2;        ///< sizes of the window
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< at most half of the window
  WindowArg dilation = 1;      ///< distance of the elements under the window
  bool ceil_mode = false;      ///< windows may begin inside and end outside

  /// The result of max_pool3d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// avg_pool1d as a layer without parameters.
struct AvgPool1d {
  WindowArg kernel = 2;                          ///< sizes of the window
  WindowArg stride = Shape{};                    ///< empty: the size of the window
  WindowArg padding = 0;                         ///< at most half of the window
  bool ceil_mode = false;                        ///< windows may begin inside and end outside
  bool count_include_pad = true;                 ///< whether padding counts in the divisor
  std::optional<int64_t> divisor_override = {};  ///< the divisor, whatever the window holds

  /// The result of avg_pool1d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// avg_pool2d as a layer without parameters.
struct AvgPool2d {
  WindowArg kernel = 2;                          ///< sizes of the window
  WindowArg stride = Shape{};                    ///< empty: the size of the window
  WindowArg padding = 0;                         ///< at most half of the window
  bool ceil_mode = false;                        ///< windows may begin inside and end outside
  bool count_include_pad = true;                 ///< whether padding counts in the divisor
  std::optional<int64_t> divisor_override = {};  ///< the divisor, whatever the window holds

  /// The result of avg_pool2d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// avg_pool3d as a layer without parameters.
struct AvgPool3d {
  WindowArg kernel = 2;                          ///< sizes of the window
  WindowArg stride = Shape{};                    ///< empty: the size of the window
  WindowArg padding = 0;                         ///< at most half of the window
  bool ceil_mode = false;                        ///< windows may begin inside and end outside
  bool count_include_pad = true;                 ///< whether padding counts in the divisor
  std::optional<int64_t> divisor_override = {};  ///< the divisor, whatever the window holds

  /// The result of avg_pool3d.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
