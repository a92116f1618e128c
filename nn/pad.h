// SPDX-License-Identifier: Apache-2.0
// Padding in PyTorch's order: the last axis first. spruce::pad takes a pair for each axis.
#pragma once

#include "spruce/core/array.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// What a padding puts around an array.
enum class PaddingMode {
  kConstant,           ///< one value
  kZeros = kConstant,  ///< the name that convolutions have for it
  kReflect,            ///< a mirror on the last element: 3 2 1 2 3 2 1
  kReplicate,          ///< the last element: 1 1 1 2 3 3 3
  kCircular            ///< the other end: 2 3 1 2 3 1 2
};

/// Options of pad.
struct PaddingOptions {
  PaddingMode mode = PaddingMode::kConstant;  ///< what is put around
  double value = 0;                           ///< for kConstant
};
/// `x` with elements put around its last axes: `padding` is {before, after} of the last axis, then
/// of the one before it, and so on: pad(x, {1, 2}) makes f[n, w] f[n, w + 3]. Negative numbers take
/// elements away, in the mode kConstant. Throws ShapeError for an odd number of entries, more than
/// two for each axis, more than there is to take away, a mirror that is not smaller than its axis,
/// and a circle that is longer; ValueError for negative numbers in other modes, and for a value
/// that an integer x cannot hold.
inline constexpr struct PadFunction {
  Array operator()(const Array& x, const Shape& padding, const PaddingOptions& options = {},
                   Loc loc = Loc::current()) const;
} pad{};

namespace internal {

/// The same with numbers before and behind each of the last axes, in their order.
Array padded(const char* op, const Array& x, const Shape& low, const Shape& high, PaddingMode mode,
             double value);
/// pad() of a layer over kAxes axes, with one number or two for each of them.
Array pad_layer(const char* op, int axes, const Array& x, const WindowArg& padding,
                const PaddingOptions& options, Loc loc);
/// The layer's name in errors.
template <int kAxes>
constexpr const char* padding_layer_name(PaddingMode mode) {
  switch (mode) {
    case PaddingMode::kReflect:
      return axes_name<kAxes>("ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d");
    case PaddingMode::kReplicate:
      return axes_name<kAxes>("ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d");
    case PaddingMode::kCircular:
      return axes_name<kAxes>("CircularPad1d", "CircularPad2d", "CircularPad3d");
    default:
      return axes_name<kAxes>("ZeroPad1d", "ZeroPad2d", "ZeroPad3d");
  }
}

}  // namespace internal

/// pad as a layer without parameters, over the last kAxes axes.
template <int kAxes, PaddingMode kMode>
struct PaddingLayer {
  /// What it is printed as.
  static constexpr const char* kClassName = internal::padding_layer_name<kAxes>(kMode);

  WindowArg padding = 0;  ///< one number for all sides, or as in pad: {left, right, top, bottom}

  /// The result of pad.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    return internal::pad_layer(kClassName, kAxes, x, padding, {.mode = kMode}, loc);
  }
};
/// Zeros around the last axis.
using ZeroPad1d = PaddingLayer<1, PaddingMode::kZeros>;
/// Zeros around the last two axes.
using ZeroPad2d = PaddingLayer<2, PaddingMode::kZeros>;
/// Zeros around the last three axes.
using ZeroPad3d = PaddingLayer<3, PaddingMode::kZeros>;
/// A mirror around the last axis.
using ReflectionPad1d = PaddingLayer<1, PaddingMode::kReflect>;
/// A mirror around the last two axes.
using ReflectionPad2d = PaddingLayer<2, PaddingMode::kReflect>;
/// A mirror around the last three axes.
using ReflectionPad3d = PaddingLayer<3, PaddingMode::kReflect>;
/// The edge around the last axis.
using ReplicationPad1d = PaddingLayer<1, PaddingMode::kReplicate>;
/// The edge around the last two axes.
using ReplicationPad2d = PaddingLayer<2, PaddingMode::kReplicate>;
/// The edge around the last three axes.
using ReplicationPad3d = PaddingLayer<3, PaddingMode::kReplicate>;
/// The other end around the last axis.
using CircularPad1d = PaddingLayer<1, PaddingMode::kCircular>;
/// The other end around the last two axes.
using CircularPad2d = PaddingLayer<2, PaddingMode::kCircular>;
/// The other end around the last three axes.
using CircularPad3d = PaddingLayer<3, PaddingMode::kCircular>;

/// One value around the last kAxes axes.
template <int kAxes>
struct ConstantPad {
  WindowArg padding = 0;  ///< one number for all sides, or as in pad
  double value = 0;       ///< what is put there

  /// The result of pad.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    return internal::pad_layer(
        internal::axes_name<kAxes>("ConstantPad1d", "ConstantPad2d", "ConstantPad3d"), kAxes, x,
        padding, {.value = value}, loc);
  }
};
/// Around the last axis.
using ConstantPad1d = ConstantPad<1>;
/// Around the last two axes.
using ConstantPad2d = ConstantPad<2>;
/// Around the last three axes.
using ConstantPad3d = ConstantPad<3>;

}  // namespace spruce::nn
